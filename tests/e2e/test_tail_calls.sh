# shellcheck shell=bash
# Functions that jump to functions: bounded memory, exact counts.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets tailcalls released_frame

it 'a loop to the first byte is one call, 1e8 rounds'
assert_same_as_native "$TARGETS/tailcalls" loop 100000000
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile spin 1 main 1
calls=$(row table calls spin_short) # may be refused: too short
case ${calls:-0} in
0 | 1) ;;
*) fail "calls of spin_short: expected 1, got $calls" ;;
esac
assert_le "$(stat -c %s profile)" $((4 << 20)) 'size of the profile'

it 'mutual tail recursion, 1e7 rounds'
assert_same_as_native "$TARGETS/tailcalls" mutual 10000000
assert_complete profile
assert_calls profile ping 10000001 pong 10000000
assert_le "$(stat -c %s profile)" $((4 << 20)) 'size of the profile'

it 'a chain of 101 functions'
assert_same_as_native "$TARGETS/tailcalls" chain 20000
assert_complete profile
dump_table profile
assert_eq '101 20000' "$(awk '$(NF - 1) ~ /^chain_/ { print $1 }' table | sort |
	uniq -c | xargs)" 'calls of each'

it 'tail calls beside calls'
assert_same_as_native "$TARGETS/tailcalls" recursion
assert_complete profile
assert_calls profile walk 1001000 walk_on 1000000 step 1000000

it 'tail calls into a library'
assert_same_as_native "$TARGETS/tailcalls" library 100000
assert_complete profile
assert_calls profile count_characters 100000 say 1

it 'a tail call to who reads its return address'
assert_same_as_native "$TARGETS/tailcalls" dlsym
assert_complete profile
assert_calls profile main 1
assert_contains out 'not found'
calls=$(row table calls next_of) # may be refused: that is a reason of its own
case ${calls:-0} in
0 | 2) ;;
*) fail "calls of next_of: expected 2, got $calls" ;;
esac

# libtheora's encoder gave another stream.
it 'a jump with the address of something in the frame that was given up'
for options in '' '--timing sampled' '-m trace'; do
	# shellcheck disable=SC2086
	use_options $options || continue
	assert_same_as_native "$TARGETS/released_frame"
	assert_complete profile
	assert_calls profile gives_up 1000 gives_up_too 1000 keeps 1000 \
		sum_above 1000 fill 3000
done
RUN_OPTIONS=()
"$RUN" --list -v "$TARGETS/released_frame" >list
for name in sum_below sum_below_too; do
	assert_matches list "no standard frame at entry +$name\$"
done

finish
