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
	# fib(20): 21891 calls; 15 in a handler, fib(4): 9 in another
	[ $mode = nested ] || raised=0
	assert_calls profile handled $((2 * ticks)) on_other "$raised" \
		fib $((21891 * rounds + 15 * ticks + 9 * raised)) main 1
done

finish
