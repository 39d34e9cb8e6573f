# shellcheck shell=bash
# Signal handlers run hooked functions in the midst of hooks: counts stay exact.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets signals

for mode in plain stack nested; do
	it "a handler of hooked functions, $mode"
	capture "$RUN" -o profile "$TARGETS/signals" 10 $mode
	assert_status 0
	assert_eq '0 wrong, ticks' "$(cat out)"
	read -r rounds ticks raised <err
	assert_complete profile
	# fib(20): 21891 calls, 10946 of leaf; fib(5): 15 and 8; fib(4): 9, 5
	[ $mode = nested ] || raised=0
	assert_calls profile handled $((2 * ticks)) on_other "$raised" \
		fib $((21891 * rounds + 15 * ticks + 9 * raised)) \
		leaf $((10946 * rounds + 8 * ticks + 5 * raised)) main 1
	assert_time_is_sane profile
done

# A jump out of the handler leaves the hook that was interrupted half done: one
# call more or less for each, no more. The time of what was open around it may be
# counted twice then, and the profile says so (docs/limits.md).
for mode in jump jump-stack; do
	it "a handler that jumps out of hooks, $mode"
	capture "$RUN" -o profile "$TARGETS/signals" 10 $mode
	assert_status 0
	assert_eq '0 wrong, ticks' "$(cat out)"
	read -r rounds ticks raised <err
	assert_readable profile
	assert_calls profile handled $((2 * ticks)) main 1
	assert_ge "$(row table calls fib)" $((21891 * rounds + 15 * ticks)) \
		'calls of fib'
	assert_le "$(row table calls fib)" \
		$((21891 * (rounds + ticks + 1) + 16 * ticks)) 'calls of fib'
	if [ -n "$(info_value profile repaired)" ]; then
		assert_rows_are_sane profile
	else
		assert_time_is_sane profile
	fi
done

it 'handlers that go on in code which looks like a function, but is not called'
need_targets diverted
assert_same_as_native "$TARGETS/diverted"
assert_complete profile
assert_calls profile fault 10 leave 10 after_fault 10 on_fault 10

it 'timers of processor time that come with an exec do not count our start'
need_targets timers
for how in none ''; do
	# shellcheck disable=SC2086
	timeout 60 env LD_PRELOAD=libcrypto.so.3 "$TARGETS/timers" $how \
		>native.out 2>native.err </dev/null
	native=$?
	rm -rf d
	# shellcheck disable=SC2086
	capture timeout 60 env LD_PRELOAD=libcrypto.so.3 "$RUN" --no-cache -M '*' \
		-o d/ "$TARGETS/timers" $how </dev/null
	assert_status $native
	assert_same native.out out
	assert_empty err
done

finish
