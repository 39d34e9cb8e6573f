# shellcheck shell=bash
# -f firefox: its tables are as the profiler's types have them, and running times
# are those of the table of functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets workers marks

read_firefox() { # FILE: functions into `functions`, markers into `markers`
	python3 "$TOP/tests/e2e/read_firefox.py" "$1" >shown 2>err ||
		fail "not well formed: $(tail -n 1 err)"
	sed -n 's/^F	//p' shown | sed 's/@[0-9a-f][0-9a-f]*$//' |
		awk -F '\t' '{ sum[$2] += $1 }
			END { for (name in sum) printf "%.0f\t%s\n", sum[name], name }' |
		LC_ALL=C sort -t '	' -k 2 >functions
	sed -n 's/^M	//p' shown >markers
}

# nanoseconds and names of functions that ran, threads added up
self_times() { # OPTION...
	"$DUMP" -q -f csv "$@" | python3 -c '
import collections, csv, re, sys
sums = collections.Counter()
for row in csv.DictReader(sys.stdin):
    # (a file of events does not tell namesakes apart by their address)
    sums[re.sub("@[0-9a-f]+$", "", row["function"])] += int(row["self_ns"])
for name, ns in sorted(sums.items()):
    if ns:
        print(ns, name, sep="\t")'
}

"$RUN" -q -m sample -r 2000 -o samples python3 -c '
import threading, time
def work(): sum(i * i for i in range(1500000))
t = threading.Thread(target=work)
t.start(); time.sleep(0.05); t.join(); work()' || abort 'no samples'

it 'samples: weights add up to the self times of other formats'
"$DUMP" -q -f firefox -o samples.json samples
read_firefox samples.json
grep -v '^0	' functions >ran
assert_ge "$(wc -l <ran)" 2 'functions that ran'
self_times samples | LC_ALL=C sort -t '	' -k 2 >expected
assert_same expected ran

it 'samples: waits are markers'
assert_matches markers '	Waiting	'

it 'samples: a range of time'
"$DUMP" -q -f firefox --to 50% -o half.json samples
read_firefox half.json
assert_le "$(awk '{ n += $1 } END { printf "%.0f", n }' functions)" \
	"$(awk '{ n += $1 } END { printf "%.0f", n }' ran)" 'half of the time'

"$RUN" -q -m trace --switches --flows -o trace "$TARGETS/workers" >/dev/null ||
	abort 'no trace'
it 'a trace: running time, threads and flows'
"$DUMP" -q -f firefox -o trace.json trace
read_firefox trace.json
self_times --no-compensate trace >expected
assert_eq "$(cut -f 2 expected | grep -c '^shop::')" \
	"$(cut -f 2 functions | grep -c '^shop::')" functions
# (each piece of time is rounded to a nanosecond)
python3 - expected functions <<'END' >off
import sys
table, file = (dict(reversed(line.rstrip('\n').split('\t')) for line in open(f))
               for f in sys.argv[1:])
for name in table:
    a, b = int(table[name]), int(file.get(name, 0))
    if abs(a - b) > 100000 + a / 50:
        print(name, a, b)
END
assert_empty off
assert_matches markers '	Wakes	thread in workers .*	flow [0-9]+$'
assert_eq "$(grep -c '	Wakes	' markers)" "$(grep -c '	Woken by	' markers)" \
	'both ends of flows'

it 'marks are markers'
"$RUN" -q -m trace -o marked "$TARGETS/marks" >/dev/null
"$DUMP" -q -f firefox -o marked.json marked
read_firefox marked.json
assert_ge "$(grep -c '	Mark	' markers)" 1 marks

it 'a profile without times of samples is refused'
"$RUN" -q -m profile -o calls "$TARGETS/workers" >/dev/null
capture "$DUMP" -f firefox calls
assert_status 1
finish
