# shellcheck shell=bash
# --percentiles: each call that ends is in its function's histogram, once. (What is shown
# of histograms: tests/unit/test_dump_by.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 perl
need_targets step_by_step fib steady threads longjmp exceptions tailcalls processes signals

# "function calls calls-with-times" of functions, from csv
timed() { # PROFILE FUNCTION...
	local profile=$1
	shift
	"$DUMP" -q -f csv "$profile" >csv
	python3 - "$@" <<-'END'
		import csv, sys
		rows = {r["function"].split("(")[0]: r for r in csv.DictReader(open("csv"))}
		for name in sys.argv[1:]:
		    print(name, rows[name]["calls"], rows[name].get("timed_calls", "none"))
	END
}

assert_timed() { # PROFILE FUNCTION...: all calls are
	timed "$@" >timed
	awk '$2 != $3 || !$2' timed >wrong
	assert_empty wrong
	assert_eq $(($# - 1)) "$(wc -l <timed)" functions
}

# Of at least LEAST functions whose names begin so all calls are.
assert_all_timed() { # PROFILE PREFIX LEAST
	"$DUMP" -q -f csv "$1" | python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin) if r["function"].startswith(sys.argv[1])]
assert len(rows) >= int(sys.argv[2]), len(rows)
for r in rows:
    assert r["calls"] == r["timed_calls"], r' "$2" "$3" || fail "calls of $2* without times"
}

it 'has the percentiles of the full trace of the same run'
for options in '' '--imports'; do
	rm -f profile base
	# shellcheck disable=SC2086
	capture "$RUN" -q -m trace $options --percentiles -o profile "$TARGETS/threads" short 20
	assert_status 0
	capture "$DUMP" -q -f sqlite --no-compensate -o base profile
	assert_status 0
	names=$("$DUMP" -q -f csv profile >csv && python3 -c '
import csv
for r in csv.DictReader(open("csv")):
    if r["timed_calls"]:
        print(r["function"])')
	assert_ne '' "$names" functions
	# shellcheck disable=SC2086
	capture python3 "$TOP/tests/e2e/read_percentiles.py" base $names
	assert_status 0
	awk '$2 != $3' out >wrong
	assert_empty wrong
done

it 'keeps none of functions that do not match, and has no columns without the option'
capture "$RUN" -q -o matched --percentiles='[fm]*' --percentiles='!m*' "$TARGETS/fib"
assert_status 0
assert_timed matched fib
assert_eq 'main 1' "$(timed matched main | xargs)" 'no times of main'
capture "$RUN" -q -o plain "$TARGETS/fib"
"$DUMP" -q -f csv plain >csv
assert_not_contains csv p50_ns
"$DUMP" -q -f raw plain >raw
assert_not_contains raw HISTOGRAM

it 'counts calls that jumps, longjmp and exceptions end'
capture "$RUN" -q -o tails --percentiles "$TARGETS/tailcalls" chain 1000
assert_all_timed tails chain_ 100
capture "$RUN" -q -o jumps --percentiles "$TARGETS/longjmp" frames
assert_timed jumps jump_from dive leaf
capture "$RUN" -q -o throws --percentiles "$TARGETS/exceptions" deep
assert_status 0
"$DUMP" -q -f csv throws | python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin) if r["unwound"] not in ("", "0")]
assert rows, "no function was unwound"
for r in rows:
    assert r["calls"] == r["timed_calls"], r' || fail 'calls that an exception ended'

it 'counts calls of signal handlers, and those that they interrupt, once'
for kind in '' stack nested; do
	# shellcheck disable=SC2086 # none, for one of them
	capture "$RUN" -q -o signals --percentiles "$TARGETS/signals" 5 $kind
	assert_status 0
	assert_timed signals fib leaf on_alarm handled now
done

it 'does all that in traces, too'
capture "$RUN" -q -m trace -o tails2 --percentiles "$TARGETS/tailcalls" chain 1000
assert_all_timed tails2 chain_ 100

it 'has of each process its own calls'
rm -rf forks
mkdir forks
capture "$RUN" -q -o forks/ --percentiles "$TARGETS/processes" fork 10
assert_status 0
set -- forks/*
assert_ge $# 2 profiles
for profile; do
	"$DUMP" -q -f csv "$profile" | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if r["timed_calls"]:
        assert int(r["timed_calls"]) <= int(r["calls"]) + 20, r' ||
		fail "more times than calls in $profile"
done

it 'loses nothing when the process is killed'
for ((i = 0; i < 6; i++)); do
	rm -f profile at
	kill_after $((RANDOM % 50000)) 0 "$RUN" -o profile --percentiles "$TARGETS/steady" at
	assert_readable profile
	timed profile fib round_of tick >timed
	# those on the stack, and one between two stores of its exit hook
	awk '$2 - $3 < 0 || $2 - $3 > 20' timed >wrong
	assert_empty wrong
done

it 'stays within a small bound, and says what is missing'
capture "$RUN" -q -o small --max-memory 1M --percentiles "$TARGETS/threads" short 800
assert_status 0
assert_le "$(stat -c %s small)" $((1 << 20)) 'size of the profile'
"$DUMP" -q -f text small >text
assert_matches text '^# percentiles: [0-9]* calls are missing, there was no room'

it 'is not for modes that do not know the time of each call'
capture "$RUN" -m count --percentiles "$TARGETS/fib"
assert_refused 2 --percentiles
capture "$RUN" -m sample --percentiles "$TARGETS/fib"
assert_refused 2 --percentiles
capture "$RUN" --timing sampled --percentiles "$TARGETS/fib"
assert_refused 2 'the time of each call'
capture env -u SWIZZLE_MODE "$RUN" -o chosen --percentiles "$TARGETS/fib"
assert_status 0
assert_contains err '--mode profile'

it 'works with a process that runs already'
mkfifo input
"$TARGETS/step_by_step" <input &
steps=$!
exec 5>input
"$RUN" -q -p "$steps" --percentiles -o attached &
run=$!
has_calls() {
	printf x >&5
	kill -0 "$run" 2>/dev/null || return 0
	"$DUMP" -q -f csv attached >csv 2>/dev/null &&
		awk -F, '$0 ~ /,leaf,/ && $1 >= 20 { found = 1 } END { exit !found }' csv
}
wait_until has_calls || fail 'no calls were recorded'
if kill -TERM "$run" 2>/dev/null; then
	wait "$run"
	assert_eq 0 $? 'the status of -p'
	assert_timed attached leaf
else
	skip '-p does not work here'
fi
exec 5>&-
wait "$steps"

it 'is read by the library alone'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_QUIET=1 SWIZZLE_OUTPUT=alone SWIZZLE_PERCENTILES=fib \
	"$TARGETS/fib" >/dev/null
assert_timed alone.* fib

finish
