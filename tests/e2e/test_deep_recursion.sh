# shellcheck shell=bash
# A million frames are open at once: each has its return thunk.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets deep

it 'recursion 1e6 deep'
assert_same_as_native "$TARGETS/deep" 1000000
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile descend 1000001 run 1

it 'and again: the thunks are reused'
assert_same_as_native "$TARGETS/deep" 100000 20
assert_complete profile
assert_calls profile descend $((20 * 100001)) run 1
assert_eq 0 "$(info_value profile 'lost calls')" 'lost calls'

finish
