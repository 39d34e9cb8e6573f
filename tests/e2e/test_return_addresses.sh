# shellcheck shell=bash
# Functions that look at their callers' return addresses see the real ones.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets return_addresses
program=$TARGETS/return_addresses

it '__builtin_return_address of the levels 0 to 3'
assert_same_as_native "$program"
assert_complete profile

it 'only those are refused that are looked at'
assert_calls profile harmless 1 one_above 2 two_above 1 jumps 1 \
	own 0 calls_one_above 0 calls_two_above 1 calls_calls_two_above 0 \
	all_four 0 four_1 0 four_2 0 four_3 0 calls_jumps 0
"$RUN" --list -v "$program" >list
reason="calls a function that reads its caller's return address"
for name in calls_one_above calls_calls_two_above four_1 four_2 four_3 \
	calls_jumps; do
	assert_matches list "  $reason +$name\$"
done

it 'a function that is not hooked itself looks at its callers all the same'
RUN_OPTIONS=(-H 'one_above|two_above')
assert_same_as_native "$program"

finish
