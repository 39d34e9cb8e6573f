# shellcheck shell=bash
# swizzle-dump --merge-into: the sum has what the profiles have, whoever adds them
# up. (Sums of sums, what is added twice, and what cannot be: tests/unit/test_dump_by.c and
# test_dump_files.c.)
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
for i in 1 2; do
	"$RUN" -q --imports -o "in/r$i" "$TARGETS/running" >/dev/null
	"$RUN" -q -o "in/w$i" "$TARGETS/workers" >/dev/null
	"$RUN" -q -o "in/e$i" "$TARGETS/exceptions" next >/dev/null
done
capture "$DUMP" --merge-into sum in
assert_status 0
assert_contains err '6 profiles added to sum, which has 6 now'
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

it 'functions of a script that have the same name are told apart by their lines'
cat >twice.py <<'END'
def spin():
    for i in range(4000000): pass
spin()
def spin():
    for i in range(4000000): pass
spin()
END
python=$(python3 -c 'import sys; print(sys.executable)')
if "$RUN" -q -m sample --engine pause -r 500 -o t1 "$python" twice.py 2>err; then
	"$RUN" -q -m sample --engine pause -r 500 -o t2 "$python" twice.py
	"$DUMP" -q --merge-into twice t1 t2
	for profiles in 't1 t2' twice 'twice t2'; do
		# shellcheck disable=SC2086 # several
		"$DUMP" -q -f csv -n 0 -o - $profiles | awk -F, '$7 ~ /^spin/ { print $10 }' | sort >actual
		assert_eq '1 4 ' "$(tr '\n' ' ' <actual)" "lines of spin in $profiles"
	done
else
	echo "not tested: sums of scripts' functions: $(cat err)"
fi

it 'samples add up, too; functions made at run time by their names'
if have 'samples of scripts' node; then
	for i in 1 2; do
		capture "$RUN" -q -m sample -o "s$i" node --perf-basic-prof \
			--interpreted-frames-native-stack -e '
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 7;
	return s }
while (process.cpuUsage().user < 600000) hot(20000)'
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
"$RUN" -q --timing sampled -o timing "$TARGETS/workers" >/dev/null
capture "$DUMP" --merge-into new timing
assert_status 1
assert_contains err 'estimates'
finish
