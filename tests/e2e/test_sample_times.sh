# shellcheck shell=bash
# Samples have times: -f samples, ranges of time, timelines.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets stages calls
unset SWIZZLE_MODE

ENGINES=(pause)
if "$RUN" -q -m sample --engine perf -o try true 2>/dev/null; then
	ENGINES=(perf pause)
else
	echo 'not tested: --engine perf, which is not permitted here'
fi

samples() { # [OPTION...]: how many the table of functions has
	"$DUMP" -q -f csv -o - "$@" profile >csv
	python3 -c 'import csv
print(sum(int(row["samples"]) for row in csv.DictReader(open("csv"))))'
}

for engine in "${ENGINES[@]}"; do
	it "$engine: each sample has its time, thread and stack"
	"$RUN" -q -m sample --engine "$engine" -o profile "$TARGETS/stages" 2>err ||
		fail "exit status $?"
	"$DUMP" -q -f samples -o - profile >list
	running=$(grep -c ' runs ' list)
	assert_ge "$running" 20
	assert_eq "$(samples)" "$running" 'samples listed'
	assert_matches list ' waits .*;main;rests;'
	assert_matches list ' runs .*;main;first;spin'
	python3 - list <<'EOF' || fail 'the stages are not in their order'
import sys
order, last, places = [], 0.0, {}
for line in open(sys.argv[1]):
    if line.startswith('#'):
        continue
    time, tid, cpu, state, stack = line.split(None, 4)
    assert float(time) >= last, line
    last = float(time)
    for stage in ('first', 'rests', 'second', 'deep'):
        if stage in stack.rstrip().split(';'):
            if not order or order[-1] != stage:
                order.append(stage)
assert order == ['first', 'rests', 'second', 'deep'], order
EOF
	[ "$engine" != perf ] || assert_matches list '^ +[0-9.]+ +[0-9]+ +[0-9]+  runs '

	it "$engine: stacks of 2,000 frames are whole"
	"$DUMP" -q -f samples -o - -F deep profile | sed 's/.* //' >stacks
	assert_ge "$(wc -l <stacks)" 3
	# (it grows, then runs for a tenth of a second, then shrinks)
	assert_ge "$(grep -c '^\(deep;\)\{2001\}spin' stacks)" 3
	"$DUMP" -q -f info profile | sed -n 's/^cut stacks: \([0-9]*\) .*/\1/p' >cut.stacks
	# one that grows meanwhile is cut, which takes longer where others compute, too
	assert_le "$(cat cut.stacks)" $((2 + $(wc -l <stacks) / 10))

	it "$engine: a timeline has the waiting, where it was"
	"$DUMP" -q -f chrome -o chrome profile
	"$DUMP" -q -f text -o text profile
	python3 - chrome "$(grep -c ' waits ' list)" \
		"$(sed -n 's/^# running .*, waiting \([0-9]*\) ns.*/\1/p' text)" \
		<<'EOF' || fail 'waiting in the timeline'
import json, sys
open_calls, waited, elsewhere, begin = [], 0, 0, 0
for event in json.load(open(sys.argv[1]))['traceEvents']:
    if event['ph'] == 'B':
        open_calls.append(event['name'])
        begin = event['ts']
    elif event['ph'] == 'E':
        if open_calls.pop() == '[waiting]':
            waited += event['ts'] - begin
            if 'rests' not in open_calls:
                elsewhere += event['ts'] - begin
assert not open_calls, open_calls
# (µs; 100 looks a second, each for 10 ms at least; the rest waited for a processor)
looks, most = int(sys.argv[2]) * 10000, int(sys.argv[3]) / 1000
assert looks > 50000
assert 0.6 * looks < waited < 1.1 * most + 20000, (looks, waited, most)
assert elsewhere < 0.5 * waited, (elsewhere, waited)
EOF

	it "$engine: ranges of time side by side add up to the whole"
	middle=$(awk '/;rests/ { print $1; exit }' list)
	assert_eq "$running" $(($(samples --to "$middle") + $(samples --from "$middle"))) sum
	"$DUMP" -q -f csv -o - --to "$middle" profile >before
	"$DUMP" -q -f csv -o - --from "$middle" profile >after
	assert_contains before first
	assert_not_contains before second
	assert_contains after second
	assert_not_contains after first
	"$DUMP" -q -f tree --to 20% profile >tree
	assert_contains tree first
	assert_not_contains tree '  second  '
	"$DUMP" -q -f tree --bottom-up --from "$middle" profile >tree
	assert_contains tree '  second  '

	it "$engine: timelines show the stages, nested and in their order"
	for format in chrome perfetto; do
		"$DUMP" -q -f $format -o $format profile
		python3 "$TOP/tests/e2e/read_events.py" $format $format >events ||
			fail "$format: not well formed"
		assert_contains events first
		assert_contains events deep
	done
	"$DUMP" -q -f chrome --to "$middle" -o chrome profile
	assert_contains chrome '"first"'
	assert_not_contains chrome '"second"'

	it "$engine: an archive has the times, too"
	"$DUMP" -q -f archive -o archive.swz profile
	"$DUMP" -q -f samples -o - archive.swz >again
	assert_same list again
done

it 'filters choose samples and frames'
"$DUMP" -q -f samples -o - -F first profile >list
assert_matches list ' first;spin'
assert_not_contains list "second;"
assert_not_contains list main

it 'files that have no such samples'
"$RUN" -q -m profile -o calls "$TARGETS/calls" >/dev/null
capture "$DUMP" -f samples -o - calls
assert_refused 1 'no samples with times'
capture "$DUMP" -f table --from 0 calls
assert_refused 2 'not a trace'
capture "$DUMP" -f calls profile
assert_refused 1 'not a trace'
capture "$DUMP" -f calls --at 0.1 profile
assert_refused 2 'which --at needs'
