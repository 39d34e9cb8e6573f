# shellcheck shell=bash
# swizzle-dump --merge-into: the sum has what the profiles have, whoever adds them
# up, and however often.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets running workers exceptions fib parser

csv() { # FORMAT-OPTIONS... PROFILE...: sorted
	"$DUMP" -q -n 0 -f csv "$@" | sort
}

# calls, times and names; of each row of csv. "whole": inclusive times with what
# waited, as how folded recursion divides these is an estimate.
rows() { # [whole]
	python3 -c '
import csv, sys
def incl(r):
    waited = r["incl_waiting_ns"] if sys.argv[1:] else ""
    return int(r["incl_ns"]) + int(waited or 0)
for r in sorted((r["function"], r["module"], r["calls"], r["self_ns"],
                 incl(r), r["min_ns"], r["max_ns"])
                for r in csv.DictReader(sys.stdin)):
    print(*r)' "$@"
}

arcs() { # callgrind's functions and calls, by name; numbers are as they come first
	awk '/^c?fn=/ {
			number = name = $0
			sub(/^c?fn=/, "", number)
			sub(/ .*/, "", number)
			if (sub(/^[^ ]* /, "", name))
				names[number] = name
			sub(/=.*/, "=" names[number])
		}
		/^(c?fn|calls)=/' | sort
}

it 'the sum of profiles has their calls and times, to the nanosecond'
mkdir in
for i in 1 2 3; do
	"$RUN" -q --imports -o "in/r$i" "$TARGETS/running" >/dev/null
	"$RUN" -q -o "in/w$i" "$TARGETS/workers" >/dev/null
	"$RUN" -q -o "in/e$i" "$TARGETS/exceptions" next >/dev/null
done
capture "$DUMP" --merge-into sum in
assert_status 0
assert_contains err '9 profiles added to sum, which has 9 now'
"$DUMP" -q -n 0 -f csv in | rows >expected
"$DUMP" -q -n 0 -f csv sum | rows >actual
[ "$(wc -l <expected)" -gt 20 ] || fail 'few functions'
assert_same expected actual
"$DUMP" -q -f folded in | sort >expected
"$DUMP" -q -f folded sum | sort | assert_same expected /dev/stdin
"$DUMP" -q -f callgrind -o - in | arcs >expected
"$DUMP" -q -f callgrind -o - sum | arcs | assert_same expected /dev/stdin
assert_eq "$("$DUMP" -q -f text in | grep -c '^#.* by an exception')" \
	"$("$DUMP" -q -f text sum | grep -c '^#.* by an exception')" exceptions

it 'the calls and times of folded recursion are all there, however many edges there are'
program tangled.c >tangled.c
gcc -O1 -fno-optimize-sibling-calls -o tangled tangled.c || abort 'no program'
for bound in 1 2 16; do
	for program in "$TARGETS/fib" "$TARGETS/parser" ./tangled; do
		rm -rf folded folded_sum
		mkdir folded
		for i in 1 2; do
			"$RUN" -q --recursion "$bound" -o folded/$i "$program" \
				>/dev/null </dev/null || abort 'no profile'
		done
		"$DUMP" -q --merge-into folded_sum folded
		"$DUMP" -q -n 0 -f csv folded | rows whole >expected
		assert_ge "$("$DUMP" -q -f json folded |
			sed -n 's/.*"folded_recursion":\([0-9]*\).*/\1/p')" 1000 \
			'folded calls'
		"$DUMP" -q -n 0 -f csv folded_sum | rows whole |
			assert_same expected /dev/stdin
	done
done

it 'it says of how many profiles it is the sum'
"$DUMP" -f info sum >info
grep -qx "merged: 9 profiles, $("$DUMP" -q -f csv --by thread in |
	awk 'END { print NR - 1 }') threads" info || fail "$(grep merged info)"
"$DUMP" -q -f table sum | grep -q '^9 profiles merged, ' || fail 'table'

it 'sums of sums are the same, in any order'
"$DUMP" -q --merge-into a in/r1 in/w2 in/e3
"$DUMP" -q --merge-into b in/e1 in/e2 in/w1 in/w3
"$DUMP" -q --merge-into c in/r3 in/r2
"$DUMP" -q --merge-into abc c a b
csv sum >expected
csv abc | assert_same expected /dev/stdin

it 'what the hooks took is not in a sum'
capture "$DUMP" --no-compensate -f text sum
assert_refused 2 '--no-compensate'
assert_empty out

it 'each profile is added once'
capture "$DUMP" --merge-into sum in
assert_status 0
assert_contains err '0 profiles added to sum, which has 9 now'
assert_contains err '9 were in it already'
csv sum | assert_same expected /dev/stdin
capture "$DUMP" --merge-into sum a b
assert_status 0
csv sum | assert_same expected /dev/stdin
"$DUMP" -q --merge-into d in/r1 in/w1
capture "$DUMP" --merge-into a d
assert_status 1
assert_contains err 'd: a has some of its profiles already, not all'

it 'its own file in a directory of profiles is no profile to be added'
cp -r in again
"$DUMP" -q --merge-into again/sum again
capture "$DUMP" --merge-into again/sum again
assert_status 0
csv again/sum | assert_same expected /dev/stdin

it 'whoever was ended goes on, and the sum is whole at any time'
mkdir many
python3 - in/w1 many <<'END'
import struct, sys
profile = bytearray(open(sys.argv[1], 'rb').read())
for i in range(300):
    struct.pack_into('<i', profile, 40, 100000 + i) # the process
    open('%s/%d' % (sys.argv[2], i), 'wb').write(profile)
END
"$DUMP" -q --merge-into part many &
merging=$!
sleep 0.05
kill -9 $merging
wait $merging 2>/dev/null
[ ! -e part ] || csv part >/dev/null || fail 'half a sum'
capture "$DUMP" -q --merge-into part many
assert_status 0
assert_eq 'merged: 300 profiles' "$("$DUMP" -f info part |
	grep -o '^merged: 300 profiles')" info
assert_eq $((300 * $(csv in/w1 | awk -F, '{ s += $1 } END { print s }'))) \
	"$(csv part | awk -F, '{ s += $1 } END { print s }')" calls
assert_eq '' "$(find . -name 'part.tmp*' -newer part)" 'left over'

it 'samples add up, too; functions made at run time by their names'
if have 'samples of scripts' node; then
	for i in 1 2; do
		capture "$RUN" -q -m sample -o "s$i" node --perf-basic-prof \
			--interpreted-frames-native-stack -e '
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 7;
	return s }
for (let i = 0; i < 400; i++) hot(20000)'
	done
	"$DUMP" -q --merge-into samples s1 s2
	"$DUMP" -q -f csv -n 0 s1 s2 | awk -F, '/hot/ { print $1, $2 }' >expected
	[ -s expected ] || fail 'no sample of hot'
	"$DUMP" -q -f csv -n 0 samples | awk -F, '/hot/ { print $1, $2 }' |
		assert_same expected /dev/stdin
	assert_eq "$(csv s1 s2 | awk -F, '{ s += $2 } END { printf "%.0f", s }')" \
		"$(csv samples | awk -F, '{ s += $2 } END { printf "%.0f", s }')" total
	capture "$DUMP" --merge-into sum samples
	assert_status 1
	assert_contains err 'samples and calls cannot be added'
fi

it 'embedded names come along'
cp in/r1 embedded
"$DUMP" -q --embed embedded
"$DUMP" -q --merge-into with-names embedded
"$DUMP" -f raw with-names | grep -q ': SYMBOLS' || fail 'no names'
# (a sum has no hooks whose cost could be a bound)
csv embedded | sed 's/,[^,]*$//' >expected
csv with-names | assert_same expected /dev/stdin

it 'what it cannot add it leaves out, and says so'
echo nothing >text
capture "$DUMP" --merge-into new text in/r1
assert_status 1
assert_contains err 'text: '
assert_contains err '1 profiles added to new'
capture "$DUMP" --merge-into text in/r1
assert_status 1
assert_eq nothing "$(cat text)" 'a file that is no sum'
capture "$DUMP" --merge-into in/r1 in/r2
assert_status 1
assert_contains err 'in/r1: a profile that --merge-into has not made'
"$RUN" -q --timing sampled -o timing "$TARGETS/workers" >/dev/null
capture "$DUMP" --merge-into new timing
assert_status 1
assert_contains err 'estimates'
"$RUN" -q -m trace -o trace "$TARGETS/workers" >/dev/null
capture "$DUMP" --merge-into new trace
assert_status 0
assert_contains err '1 trace: the events are not in the sum'
capture "$DUMP" --merge-into new
assert_status 2
capture "$DUMP" --merge-into new -f csv in/r1
assert_status 2

it 'other formats read it'
for format in tree html json pprof speedscope dot; do
	capture "$DUMP" -q -f $format -o "out.$format" sum
	assert_status 0
	[ -s "out.$format" ] || fail "$format: nothing"
done
finish
