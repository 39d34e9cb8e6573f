# shellcheck shell=bash
# Threads before main and behind it, and what runs when a thread or the process
# ends.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets lifetimes
PROGRAM=$TARGETS/lifetimes
# the destructor of a static object, at each exit
LAST=$((1000 * 8))

it 'destructors of thread_local objects, and of keys behind them'
assert_same_as_native "$PROGRAM" locals 300
assert_complete profile
assert_time_is_sane profile 301
assert_calls profile use_local 300 by_key 900 \
	nest $((300 * 2 + LAST)) work $((300 + 900 + 1000))

it 'threads that a constructor starts'
assert_same_as_native "$PROGRAM" early
assert_complete profile
assert_time_is_sane profile 3
assert_calls profile before_main 3 spin 1 start_early 1 in_main 1 main 1

it 'main ends by pthread_exit, another thread goes on'
assert_same_as_native "$PROGRAM" outlive
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile after_main 1 nest $((6000 + LAST)) main 1

it 'detached threads run during exit'
assert_same_as_native "$PROGRAM" detached 3
assert_status 3
assert_complete profile
assert_calls profile 'last::~last' 1 main 1
assert_ge "$(row table calls nest)" $((LAST + 33)) 'calls of nest'

it 'exit in a signal handler'
assert_same_as_native "$PROGRAM" handler
assert_status 5
assert_complete profile
assert_calls profile on_signal 1 nest $((4 + 1 + LAST)) main 1

it 'a thread that changes its processor'
"$RUN" -o profile "$PROGRAM" migrate 1000 2>err
assert_complete profile
assert_time_is_sane profile
assert_calls profile nest $((10 * $(cat err) + LAST)) \
	work $(($(cat err) + 1000))
# all self times make the total (rounded by half a nanosecond each)
"$DUMP" -f text profile >table
awk '/^# total/ { total = $3 }
	!/^#/ && $1 ~ /^[0-9]+$/ { self += $2; rows++
		if ($3 < $2) print "inclusive less than self:", $0 }
	END { if (self - total > rows || total - self > rows)
		print "self", self, "total", total }' table >wrong
assert_empty wrong

finish
