# shellcheck shell=bash
# Arguments and results in the formats of events: read back from each, they are the
# same (tests/e2e/read_values.py), and those that the program prints.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 sqlite3 gcc
need_targets adjusted values values_throw workers

agree() { # PROFILE [OPTION...]
	for format in chrome perfetto sqlite calls; do
		"$DUMP" -q -f $format "${@:2}" -o "$1.$format" "$1" || fail "$1: $format"
	done
	python3 "$TOP/tests/e2e/read_values.py" "$1.chrome" "$1.perfetto" "$1.sqlite" \
		"$1.calls" >wrong 2>&1 || fail "$1: $(cat wrong)"
}

it 'all formats have the values that the program prints'
"$RUN" -q -m trace -A 'add@arg1/i32,arg2/i32,arg3/i32,arg4/i32,retval/i32' \
	-A 'mixed@arg1/i32,fparg1,arg2/u8,fparg2/32,arg3/x,retval/f' \
	-A 'text@arg1/s,arg2/i32,retval/s' -A 'bad@arg1/s,retval/i32' \
	-A 'last@arg1/i32,retval/i32' -o values "$TARGETS/values" >out
agree values
sql() { # QUERY
	sqlite3 -batch values.sqlite "$1" 2>&1
}
assert_eq '1|1.0
-2|-2.0
3|3.0
2147483647|2147483647.0
-2147483647|-2147483647.0' "$(sql "SELECT value, number + 0.0 FROM named_values
	WHERE function_name = 'add' ORDER BY event, moment, position" |
	sed 's/^-214748364[0-9]|-214748364[0-9]/-2147483647|-2147483647/')" 'numbers of add'
assert_eq '2.5|0.25|5' "$(sql "SELECT number FROM named_values WHERE function_name = 'mixed'
	AND (name LIKE 'fparg%' OR name = 'retval') ORDER BY moment, position" |
	paste -s -d '|')" 'floating-point numbers'
assert_eq 'hello||NULL' "$(sql "SELECT coalesce(text, value) FROM named_values
	WHERE function_name = 'text' AND name = 'arg1' ORDER BY event" | paste -s -d '|')" 'texts'
assert_eq 0 "$(sql "SELECT count(*) FROM call_values v LEFT JOIN events e ON e.id = v.event
	WHERE e.id IS NULL")" 'values of no event'

it 'exceptions, and objects of C++'
"$RUN" -q -m trace -A '*most@arg1/i32,retval/i32' -A 'middle@arg1/i32,retval/i32' \
	-o throws "$TARGETS/values_throw" >out
agree throws
assert_eq 'int|shape_error' "$(sqlite3 -batch throws.sqlite "SELECT group_concat(value, '|')
	FROM (SELECT DISTINCT value FROM call_values WHERE name = 'exception' ORDER BY value)")" \
	'exceptions'

it 'a part of several threads'
"$RUN" -q -m trace -A '*@arg1/x64,retval/x64' -o workers "$TARGETS/workers" >out
agree workers -N 'shop::round'

it 'what points somewhere, before and after the call'
cat >twice.c <<-'END'
	#define F __attribute__((noipa))
	struct point { int x, y; };
	F int twice(int *n, const char *why) { *n *= 2; return why[0]; }
	F int sum(struct point p, double by) { return p.x + p.y + (int)by; }
	int main(void)
	{
		int n = 21;

		twice(&n, "a \"quoted\" text\n");
		return sum((struct point){n, 1}, 0.5) != 43;
	}
END
gcc -g -O1 -o twice twice.c || abort 'no program'
"$RUN" -q -m trace --args -o twice.trace ./twice || fail "status $?"
agree twice.trace
assert_eq 'entry|21
return|42' "$(sqlite3 -batch twice.trace.sqlite "SELECT moment, number FROM named_values
	WHERE function_name = 'twice' AND name = '*n' ORDER BY moment")" '*n'

it 'without a trace: the last values and the extremes of each context'
cat >last.c <<-'END'
	#define F __attribute__((noipa))
	F int step(const char *name, int n, double by) { return n < 0 ? -12 : n + name[0] + (int)by; }
	F void twice(int *n) { *n *= 2; }
	F int one(void)
	{
		int sum = 0;

		for (int i = 0; i < 2; i++)
			sum += step(i ? "uno" : "one", 10 * i - 7, i + 0.25);
		return sum;
	}
	F int two(void) { return step("two", 7, -2.5) + step("zwei", 8, 0); }
	int main(void)
	{
		int n = 21;

		twice(&n);
		return one() + two() + n == 0;
	}
END
gcc -g -O0 -o last last.c || abort 'no program'
"$RUN" -q -m profile --args -o last.profile ./last || fail "status $?"
for format in calls json sqlite; do
	"$DUMP" -q -f $format -o last.$format last.profile || fail $format
	python3 "$TOP/tests/e2e/read_context_values.py" $format last.$format >last.$format.txt ||
		fail $format
done
assert_same last.calls.txt last.json.txt
assert_same last.calls.txt last.sqlite.txt
grep '^step' last.calls.txt >got
printf '%s\n' 'step by: -2.5' 'step by: 0' 'step by: 0.25 to 1.25' \
	'step last: step(name = "two", n = 7, by = -2.5) = 121' \
	'step last: step(name = "uno", n = 3, by = 1.25) = 121' \
	'step last: step(name = "zwei", n = 8, by = 0) = 130' 'step n: -7 to 3' 'step n: 7' \
	'step n: 8' 'step result: -12 to 121' 'step result: 121' 'step result: 130' |
	sort >expected
sort got -o got
assert_same expected got
assert_matches last.calls.txt 'twice last: twice\(n = 0x[0-9a-f]+.*\*n: 21 -> 42'
assert_eq '-7|3|2' "$(sqlite3 last.sqlite "SELECT low_number, high_number, calls FROM
	context_values WHERE name = 'n' AND low_number < 0 AND moment = 'entry'")" 'numbers'
"$DUMP" -q -f json -N one -o part.json last.profile
assert_eq 'main two step' "$(python3 -c 'import json
for c in json.load(open("part.json"))["parts"][0]["values"]:
    if c["path"][-1] == "step": print(*c["path"])' | uniq)" 'a part'
assert_eq '' "$(sqlite3 last.sqlite 'PRAGMA foreign_key_check')" 'references'
# values of a context that is not there
python3 - last.profile forged <<'END' || fail 'no such profile'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
magic, = struct.unpack_from('<I', data, 4096)
at = 4096
while at + 64 <= len(data):
    mark, kind, size = struct.unpack_from('<IIQ', data, at)
    if mark != magic or not size:
        at += 64
        continue
    if kind == 25:  # of values
        struct.pack_into('<I', data, at + 64, 0x7fffffff)
        open(sys.argv[2], 'wb').write(data)
        sys.exit(0)
    at += size
sys.exit(1)
END
for format in calls json sqlite html; do
	capture "$DUMP" -q -f $format -o forged.$format forged
	assert_status 0
done
python3 "$TOP/tests/e2e/read_context_values.py" json forged.json >forged.txt
assert_eq $(($(grep -c last: last.json.txt) - 1)) "$(grep -c last: forged.txt)" 'contexts'

if has_chromium; then
	it 'the page has the same, and a click on a call shows them'
	for profile in values throws; do
		timeout 200 python3 "$TOP/tests/html/bubble.py" "$DUMP" $profile >wrong 2>&1 ||
			fail "$profile: $(cat wrong)"
	done
	it 'boxes of the timeline have arguments and results; errors and exceptions are red'
	"$RUN" -q -m trace --args='[!_]*' -M adjusted -o adjusted "$TARGETS/adjusted" >out || fail "status $?"
	at=$("$DUMP" -q -f calls adjusted | awk '/ run\(.*n = 1\) \{/ { print $1 }')
	"$DUMP" -q -f html --from "$at" -o boxes.html adjusted
	timeout 200 python3 "$TOP/tests/html/boxes.py" boxes.html run 'n = 1) = -5' \
		inner outer run wrapper = inner outer run wrapper / both::load "$TMP/boxes.png" >wrong 2>&1 || fail "$(cat wrong)"
	"$DUMP" -q -f html -o boxes.html throws
	timeout 200 python3 "$TOP/tests/html/boxes.py" boxes.html main main \
		__cxa_throw innermost middle outermost "$TMP/boxes.png" >wrong 2>&1 || fail "$(cat wrong)"
	it 'the page has the last ones and the extremes'
	timeout 200 python3 "$TOP/tests/html/last.py" "$DUMP" last.profile step >wrong 2>&1 ||
		fail "$(cat wrong)"
	it 'the same where the page reads a part at a time'
	cat >fib.c <<-'END'
		__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		int main(void) { return fib(20) != 6765; }
	END
	gcc -g -O0 -o fib fib.c || abort 'no program'
	"$RUN" -q -m trace --args=fib -o fib.trace ./fib || fail "status $?"
	timeout 200 python3 "$TOP/tests/html/bubble.py" "$DUMP" fib.trace large >wrong 2>&1 ||
		fail "$(cat wrong)"
fi

it 'a page without values is not larger for them'
"$RUN" -q -m trace -o plain "$TARGETS/values" >out
"$DUMP" -q -f html -o plain.html plain
assert_eq 0 "$(grep -c 'data-name="\(values\|moments\)' plain.html)" 'blocks'
"$DUMP" -q -f html -o values.html values
assert_eq 1 "$(grep -c 'data-name="moments 0"' values.html)" 'blocks'

it 'a page has room for so many values, and says what it leaves out'
cat >many.c <<-'END'
	#include <stdint.h>
	#define F __attribute__((noipa))
	F int take(const char *text) { return text[0]; }
	int main(void)
	{
		static char text[2048];
		uint64_t x = UINT64_C(88172645463325252);
		int sum = 0;

		for (int n = 0; n < 40000; n++) {
			for (int i = 0; i < 2040; i++) {
				x ^= x << 13, x ^= x >> 7, x ^= x << 17;
				text[i] = (char)('0' + (x >> 32) % 64);
			}
			sum += take(text);
		}
		return sum == 0;
	}
END
gcc -g -O1 -o many many.c || abort 'no program'
"$RUN" -q -m trace --args=take --string-bytes 2048 -o many.trace ./many || fail "status $?"
"$DUMP" -q -f html -o many.html many.trace || fail html
# 64 MiB of values, and what belongs to the last block
assert_le "$(stat -c %s many.html)" 69000000 'bytes of the page'
assert_ge "$(stat -c %s many.html)" 67000000 'bytes of the page'
# begins of calls and ends: those in blocks, and those that are left out
assert_eq 80000 "$(python3 - many.html <<'END'
import base64, json, re, sys, zlib
page = open(sys.argv[1]).read()
def blocks(name):
    for data in re.findall('data-name="%s">([^<]*)<' % name, page):
        yield zlib.decompress(base64.b64decode(data))
cut = json.loads(next(blocks('description')))['threads'][0]['cutValues']
assert cut > 1000, cut
def moments(data):
    at = count = 0
    def number():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (data[at - 1] & 127) << shift
            shift += 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        number(), number()
        for _ in range(2 * number()):
            at = data.index(0, at) + 1
        count += 1
    return count
print(cut + sum(map(moments, blocks('values 0 [0-9]+'))))
END
)" 'values'
rm many.trace many.html

finish
