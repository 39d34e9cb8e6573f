# shellcheck shell=bash
# The sampler's stack walks, against libunwind's of the same stacks. CHECK_STACKS:
# that many stacks of real programs instead of some of small ones.
. "${BASH_SOURCE%/*}/lib.sh"
COMPARE=$BUILD/test/stacks/compare
[ -e "$COMPARE" ] || skip 'needs libunwind-dev, which is not there: run configure when it is'

# Each is ended when there are enough stacks, so any may take long.
compare() { # STACKS PROGRAM ARG...
	local stacks=$1
	shift
	capture timeout 600 "$COMPARE" -v -n "$stacks" -i 400 "$@"
	assert_status 0
	# stacks N equal N further N astray N frames N root N ...
	read -r _ found _ equal _ further _ astray _ frames _ root _ <"$TMP/out"
	echo "$1: $found stacks, $equal equal, $root to the root, $frames frames;" \
		"of others ours go further in $further, libunwind's astray in $astray"
	assert_eq "$stacks" "${found:-0}" 'stacks'
	assert_ge $((frames)) $((3 * stacks)) 'frames'
	assert_ge $((equal * 1000)) $((stacks * least)) 'equal stacks, in thousandths'
	assert_ge $(((equal + further + astray) * 1000)) $((stacks * 995)) \
		'stacks that are right, in thousandths'
	assert_ge $((root * 1000)) $((stacks * 940)) \
		'stacks that reach the root, in thousandths'
	all_well || cat "$TMP/out"
}

# Small programs are often stopped while they begin a thread, where libunwind
# knows no way; on a loaded machine most of the time.
least=500
if [ -n "${CHECK_STACKS:-}" ]; then
	least=990
	each=$(((CHECK_STACKS + 3) / 4))
	cat >load.py <<-'END'
	import json, re, hashlib
	class Thing:
	    def __init__(self, n): self.n = n
	    def __lt__(self, other): return self.n * 7 % 101 < other.n * 7 % 101
	for i in range(200):
	    text = json.dumps({str(n): [n, {"a": n}] for n in range(2000)}, indent=1)
	    json.loads(text, parse_int=lambda x: int(x) + 1)
	    re.sub(r"(\d+)", lambda m: m.group(1)[::-1], text)
	    sorted(map(Thing, range(5000)))
	    hashlib.sha256(text.encode()).hexdigest()
	END
	cat >load.cc <<-'END'
	#include <algorithm>
	#include <iostream>
	#include <map>
	#include <regex>
	#include <stdexcept>
	#include <string>
	#include <thread>
	#include <vector>
	static void work()
	{
		std::map<std::string, int> seen;
		std::regex form("([a-z]+)-([0-9]+)");
		for (int i = 0; i < 3000000; i++) {
			std::string s = "abc-" + std::to_string(i % 5000);
			std::smatch match;
			if (std::regex_match(s, match, form))
				seen[match[1].str() + match[2].str()]++;
			try {
				if (i % 7 == 0)
					throw std::runtime_error(s);
			} catch (std::exception &e) {
				seen[e.what()]++;
			}
			if (i % 1000 == 0) {
				std::vector<int> v(5000);
				for (auto &x : v)
					x = rand();
				std::sort(v.begin(), v.end());
			}
		}
		std::cout << seen.size() << "\n";
	}
	int main()
	{
		std::thread other(work);
		work();
		other.join();
	}
	END
	clang=$(sed -n 's/^CLANG *:= *//p' "$TOP/config.mk")
	if have 'the stacks of Python' /usr/bin/python3; then
		compare "$each" /usr/bin/python3 load.py
	fi
	if have 'the stacks of gdb' gdb; then
		compare "$each" "${GDB[@]}" -ex 'maint expand-symtabs' \
			-ex 'info types' -ex 'info functions' \
			-ex 'info variables' -ex 'info scope main' "$DUMP"
	fi
	if have 'the stacks of a C++ program' g++; then
		g++ -O2 -pthread -o load load.cc || abort 'load.cc'
		compare "$each" ./load
	fi
	if have 'the stacks of clang' "$clang"; then
		compare "$each" "$clang" -O2 -c -o /dev/null -x c++ load.cc
	fi
	finish
fi

for target in 'fib 4 40' 'exceptions deep' 'heavy mixed'; do
	it "stacks of $target"
	# shellcheck disable=SC2086 # words are wanted
	set -- $target
	program=$1
	shift
	need_built "$TARGETS/$program"
	compare 300 "$TARGETS/$program" "$@"
done
if have 'the stacks of Python' /usr/bin/python3; then
	compare 500 /usr/bin/python3 -c \
		'print(len([[str(i), i * i % 7] for i in range(3000000)]))'
fi
finish
