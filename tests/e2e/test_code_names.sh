# shellcheck shell=bash
# -m sample: code made at run time is shown by the names that its maker writes
# for profilers: perf maps and jitdump files.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets made
unset SWIZZLE_MODE
MAPS=()
remove_maps() {
	local code=$?
	rm -f "${MAPS[@]}"
	[ ! -e "$TMP/maps" ] || xargs rm -f <"$TMP/maps"
	(exit $code)
	at_exit
}
trap remove_maps EXIT

ENGINES=(pause)
if "$RUN" -q -m sample --engine perf -o try true 2>/dev/null; then
	ENGINES=(perf pause)
else
	echo 'not tested: --engine perf, which is not permitted here'
fi

# The map that the profile's process has left is removed at the end.
forget_map() { # PROFILE
	MAPS+=("/tmp/perf-$("$DUMP" -f info "$1" | awk '/^pid:/ { print $2 }').map")
}

self_ns() { # PROFILE FUNCTION
	"$DUMP" -q -f csv -o - "$1" |
		awk -F , -v name="$2" '$7 == name { sum += $3; rows++ }
			END { if (rows > 1) print rows, "rows"; else print sum + 0 }'
}

own() { # NAME: ms
	awk -v name="$1" '$1 == name { sum += $2 } END { print sum }' printed
}

# Of what the program's functions took together, as it says itself. (Where the
# processor is another's for most of the time, there are few samples.)
assert_shares() { # PROFILE NAME...
	local profile=$1 name all=0 ms=0
	shift
	for name; do
		all=$((all + $(self_ns "$profile" "$name one")))
		ms=$(awk -v ms="$ms" -v more="$(own "$name")" 'BEGIN { print ms + more }' </dev/null)
	done
	for name; do
		awk -v ns="$(self_ns "$profile" "$name one")" -v all="$all" -v ms="$ms" \
			-v own="$(own "$name")" 'BEGIN {
			off = all ? ns / all - own / ms : 1
			exit !(own > 0 && off <= 0.2 && off >= -0.2) }' </dev/null ||
			fail "$name one: $(self_ns "$profile" "$name one") of $all ns, not about $(own "$name") of $ms ms"
	done
}

sample_made() { # ENGINE map|late|dump
	rm -f profile
	"$RUN" -q -m sample --engine "$1" -o profile "$TARGETS/made" "$2" >printed 2>err ||
		fail "exit status $?"
	assert_empty err
	forget_map profile
	echo "${MAPS[${#MAPS[@]} - 1]}" >>maps
	if [ "$2" = dump ]; then
		assert_shares profile first second third
	else
		assert_shares profile first second
	fi
	# (what a sample hit before the name was known has it too)
	# but for the last one before the process ends
	assert_le "$(self_ns profile '[code made at run time]')" 2500000 'code without a name'
	"$DUMP" -q -f csv -o - profile >rows
	assert_eq 0 "$(grep -c 'JS:' rows)" 'rows by the name of a tier'
	"$DUMP" -q -f csv -o - profile | grep -q '^.*,first one,\[jit\],' ||
		fail 'not in the module [jit]'
}

for engine in "${ENGINES[@]}"; do
	for how in map late dump; do
		it "$engine: made $how"
		measure_again 3 sample_made "$engine" $how
	done
done

it 'a map that another user could have written is not read'
rm -rf owned
"$RUN" -q -m sample -o owned/ sh -c "
	touch /tmp/perf-\$\$.map && chown 65534 /tmp/perf-\$\$.map &&
	exec '$TARGETS/made' map" >printed 2>err && status=0 || status=$?
forget_map "$(find owned -type f | head -n 1)"
if [ $status = 0 ] && [ "$(stat -c %u "${MAPS[${#MAPS[@]} - 1]}")" = 65534 ]; then
	assert_eq 0 "$(self_ns owned 'first one')" 'time by its name'
	assert_ge "$(self_ns owned '[code made at run time]')" 1 'without a name'
else
	echo 'not tested: files of another user cannot be had here'
fi

if have 'the functions of JavaScript' node; then
	cat >fib.js <<'END'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function loop(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 3; return s }
let ms = { fib: 0, loop: 0 }, r = 0
function used() { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
function timed(name, f, n) { const t = used(); r += f(n); ms[name] += used() - t }
const start = used()
while (used() - start < 1500) { timed('fib', fib, 25); timed('loop', loop, 100000) }
console.log('fib', ms.fib); console.log('loop', ms.loop)
END
	sample_node() { # ENGINE
		"$RUN" -q -m sample --engine "$1" -o profile node --perf-basic-prof \
			--interpreted-frames-native-stack "$PWD/fib.js" >printed 2>err || fail "exit status $?"
		assert_empty err
		forget_map profile
		echo "${MAPS[${#MAPS[@]} - 1]}" >>maps
		fib=$(self_ns profile fib)
		loop=$(self_ns profile loop)
		# (its clock counts the compiler's threads: shares, not times)
		awk -v a="$fib" -v b="$loop" -v x="$(own fib)" -v y="$(own loop)" 'BEGIN {
			off = a / (a + b) - x / (x + y)
			exit !(a > 0 && b > 0 && off < 0.2 && off > -0.2) }' </dev/null ||
			fail "fib $fib, loop $loop; node says: $(cat printed)"
	}
	for engine in "${ENGINES[@]}"; do
		it "$engine: node's functions, which need no map"
		measure_again 3 sample_node "$engine"
	done
fi

if have 'the functions of PHP' php; then
	it 'options that the program has are not advised'
	# what has no name then is a pattern that PCRE has compiled
	cat >patterns.php <<'END'
<?php
for ($i = 0; $i < 40000; $i++) preg_match_all('/([a-z]+[0-9]+)+x/', str_repeat('abc123 ', 40), $found);
END
	advice=" add to its command: "
	SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile php patterns.php 2>err
	wait_until grep -q Next err
	if grep -q "$advice" err; then
		options=$(sed -n "s/.*$advice//p" err)
		# shellcheck disable=SC2086 # words
		SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile php $options patterns.php 2>err
		wait_until grep -q Next err
		! grep -q "$advice" err || fail "$(grep "$advice" err)"
	else
		echo 'not tested: PCRE makes no code here'
	fi
fi

if have 'a Java that runs already' javac java; then
	cat >Fib.java <<'END'
public class Fib {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] a) {
		long sum = 0;
		System.out.println("begins");
		for (int i = 0; i < 100000; i++) sum += fib(32);
		System.out.println(sum);
	}
}
END
	javac Fib.java || abort 'no program'
	java Fib >printed &
	java=$!
	wait_until grep -q begins printed || fail 'it has not run'
	SWIZZLE_SUMMARY=1 "$RUN" -m sample -p "$java" --for 2s -o profile 2>err
	kill "$java"
	assert_not_contains err 'For the names of Java functions'
	"$DUMP" -q -f csv -o - profile >rows
	assert_matches rows ',Fib[.]fib,Fib[.]java,'
fi

it 'functions of several processes'
rm -rf tree
"$RUN" -q -m sample -o tree/ sh -c "'$TARGETS/made' alone; '$TARGETS/made' late; exec '$TARGETS/made' dump" >printed
for profile in tree/*; do
	forget_map "$profile"
done
assert_shares tree first second third
