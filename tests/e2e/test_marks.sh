# shellcheck shell=bash
# swizzle.h: marks, spans and pauses.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets marks marked

MODES=('' '--timing sampled' '-m trace')

assert_calls() { # COUNT FUNCTION: in the file table
	assert_eq "$1" "$(row table calls "$2")" "calls of $2"
}

# What main() of marks.c does whatever its argument.
assert_usual_calls() {
	assert_calls 375 leaf # 100 + 200 + 50 + 3 + 11 + 5 + 6
	assert_calls 7 work
	assert_calls 2 load
	assert_calls 1 run
	assert_calls 1 inner
	assert_calls 1 outer
	assert_calls 1 'left open'
	assert_calls 1 'while paused'
	assert_calls 1 handler
	assert_calls 1 on_signal
}

# The texts of the marks that are in the table.
marks() {
	sed -n 's/^# [0-9.]\{11,\}  \([0-9]*\|all\)  //p' table
}

it 'without swizzle they do nothing'
capture "$TARGETS/marks" many
assert_status 0
assert_empty err

for mode in "${MODES[@]}"; do
	it "what is recorded ${mode:+with $mode}"
	# shellcheck disable=SC2086
	capture "$RUN" -q $mode -o profile "$TARGETS/marks"
	assert_status 0
	assert_empty err
	dump_table profile
	assert_usual_calls
	# in `resumes` it began in main and ended; the one with a span in it is two
	assert_calls 4 '[paused]'
	printf '%s\n' begin '[paused: this thread]' '[resumed: this thread]' \
		'[paused: this thread]' 'while paused' '[resumed: this thread]' \
		signal end >expected
	marks >marks
	assert_same expected marks
	# span and function are each other's callers
	"$DUMP" -f folded -s calls profile 2>dump.err >folded
	assert_contains folded 'main;phase;load;work;leaf 150'
	assert_contains folded 'main;phase;run;work;leaf 200'
	assert_contains folded 'main;nested;outer;inner;work;leaf 5'
	assert_contains folded 'main;nested;outer;work;leaf 6'
	assert_contains folded 'main;left_open;left open;work;leaf 3'
	assert_contains folded 'main;on_signal;handler 1'

	it "threads: one pauses itself, then one all ${mode:+with $mode}"
	# shellcheck disable=SC2086
	capture "$RUN" -q $mode -o profile "$TARGETS/marks" threads
	assert_status 0
	dump_table profile
	assert_usual_calls
	assert_calls 340 of_thread
	marks >marks
	assert_eq 1 "$(grep -c '^\[paused\]$' marks)" 'the process paused'
	assert_eq 1 "$(grep -c '^\[resumed\]$' marks)" 'the process resumed'

	it "a child that is forked in a pause ${mode:+with $mode}"
	rm -rf of
	# shellcheck disable=SC2086
	capture "$RUN" -q $mode -o of/ "$TARGETS/marks" fork
	assert_status 0
	assert_eq 2 "$(ls of | wc -l)" profiles
	for file in of/*; do
		dump_table "$file"
		if [ -n "$(row table calls 'in child')" ]; then
			assert_calls 10 leaf
			assert_calls 2 work
			assert_calls 1 'in child'
			marks >marks
			printf '%s\n' '[resumed: this thread]' child >expected
			assert_same expected marks
		else
			assert_usual_calls
		fi
	done

	it "spans that exceptions leave ${mode:+with $mode}"
	# shellcheck disable=SC2086
	capture "$RUN" -q $mode -o profile "$TARGETS/marked"
	assert_status 0
	echo '500 500 500 500' >expected
	assert_same expected out
	"$DUMP" -f text profile >table 2>dump.err
	assert_calls 2000 attempt
	assert_calls 2000 serve
	assert_calls 2000 request
	assert_calls 1000 handling
	assert_calls 2000 '[paused]'
	assert_calls 4000 step # 2000 + 1000 + 1000
	assert_eq 1000 "$(unwound table fails)"
	assert_eq 1000 "$(unwound table quiet)"
done

it 'spans outside of all hooked functions'
capture "$RUN" -q -H main -o profile "$TARGETS/marks"
assert_status 0
dump_table profile
assert_usual_calls

it 'filters concern them as functions'
capture "$RUN" -q -F work -o profile "$TARGETS/marks"
dump_table profile
assert_calls 375 leaf
assert_eq '' "$(row table calls load)"
capture "$RUN" -q -F phase -o profile "$TARGETS/marks"
dump_table profile
assert_calls 2 load
assert_calls 350 leaf

it 'a text that is too long is cut, and says so'
capture "$RUN" -q -o profile "$TARGETS/marks" long
dump_table profile
assert_eq 1027 "$(marks | grep '^xxx' | tr -d '\n' | wc -c)" 'bytes and ...'
assert_eq ... "$(marks | grep '^xxx' | tr -d 'x\n')"

it 'more names than there may be are one'
capture "$RUN" -q -o profile "$TARGETS/marks" many
dump_table profile
assert_eq 5003 "$(awk '/\[span\]$/ && /(name [0-9]+|load|run|\[other spans\])  /{ n += $1 }
	END { print n }' table)" spans
assert_eq 5000 "$(marks | grep -c '^name ')"

it 'more marks than there is room for are counted'
capture "$RUN" -q --max-memory 1M -o profile "$TARGETS/marks" flood
assert_status 0
lost=$("$DUMP" -f info profile 2>/dev/null | sed -n 's/^lost marks and spans: //p')
assert_ge "${lost:-0}" 1
dump_table profile
assert_eq 3000 "$((lost + $(marks | grep -c '^xxx')))" 'of them, and those there are'
"$DUMP" -f info profile >info
assert_not_contains info damaged

it 'they are in the formats of events'
capture "$RUN" -q -m trace -o profile "$TARGETS/marks" threads
for format in chrome perfetto; do
	"$DUMP" -q -f $format -o $format profile
	python3 "$TOP/tests/e2e/read_events.py" $format $format >events 2>err ||
		fail "$format: $(tail -n 1 err)"
	assert_contains events 'marks  2  load'
	assert_contains events 'mark marks: begin'
	assert_contains events 'mark marks: while paused'
	assert_contains events 'mark marks: [paused: this thread]'
	assert_contains events 'mark *: [paused]'
	assert_contains events 'mark *: [resumed]'
done

it 'and in the others'
"$DUMP" -q -f info profile >info
assert_contains info 'while paused'
assert_not_contains info '[span]'
"$DUMP" -q -f raw profile >raw
assert_contains raw MARKS
"$DUMP" -q -f table profile >people 2>/dev/null || "$DUMP" -q -f text profile >people
assert_contains people 'while paused'
"$DUMP" -q -f csv -o csv profile
assert_contains csv '[paused]'
# names of spans need no file, also where names are put into the profile
capture "$DUMP" -q --embed profile
assert_status 0
dump_table profile
assert_usual_calls

finish
