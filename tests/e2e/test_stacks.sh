# shellcheck shell=bash
# Stacks that come to their end, are very small, or are used by two processes.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets stacks longjmp overflow
ulimit -S -s 8192 # one without a limit has no end

it 'a stack overflow, caught on the alternate stack'
assert_same_as_native "$TARGETS/stacks" overflow 8
assert_contains out 'code did not grow'
assert_complete profile
assert_time_is_sane profile
assert_calls profile on_fault 8 work 16 overflow 2
assert_ge "$(row table calls dive)" 8000 'calls of dive'

it 'the same in a thread'
assert_same_as_native "$TARGETS/stacks" overflow-thread 8
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile on_fault 8 work 16 overflow 1

# Each of the frames is unwound, but none of them has room for a landing pad.
it 'the handler of that signal throws'
assert_same_as_native "$TARGETS/overflow"
assert_eq '3 of 3,3 of 6' "$(paste -s -d, out)" 'caught, of signals'
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile handle 6 few 24 run 2
assert_ge "$(row table calls descend)" 30000 'calls of descend'

it 'threads with the smallest stack'
assert_same_as_native "$TARGETS/stacks" smallest 200
assert_complete profile
assert_calls profile small_thread 200 nest 1200 work 200

# The second one takes over what the first has left.
it 'threads whose first call is made on the small stack of a signal'
RUN_OPTIONS=(-H 'plain_*')
assert_same_as_native "$TARGETS/stacks" handler 5
RUN_OPTIONS=()
assert_complete profile
assert_calls profile work 5

# What is recorded of a call is put together on another stack, if it has no place
# on this one.
it 'the same with arguments and results'
for options in '' '-m trace'; do
	# shellcheck disable=SC2206
	RUN_OPTIONS=(-H 'plain_*' -A 'work@arg1,arg1/s,retval' $options)
	assert_same_as_native "$TARGETS/stacks" handler 5
	RUN_OPTIONS=()
	assert_complete profile
	assert_calls profile work 5
done
"$DUMP" -f calls -F work profile >calls
assert_eq 5 "$(grep -c 'work(arg1 = 10, arg1 = ?) = 11' calls)" 'calls with values'

it 'a stack without a limit, which turns the address space about'
if (ulimit -s unlimited) 2>/dev/null; then
	(
		ulimit -s unlimited
		"$RUN" -o profile "$TARGETS/longjmp" reenter >out 2>err
	)
	assert_eq "$("$TARGETS/longjmp" reenter)" "$(cat out)" output
	assert_complete profile
	assert_time_is_sane profile
	assert_calls profile descend 21000 dive 84000 leaf 20000
fi

it 'vfork: what the child calls, in the parent'"'"'s memory, is recorded there'
rm -rf d
"$TARGETS/stacks" vfork 200 >native.out
capture "$RUN" -o d/ "$TARGETS/stacks" vfork 200
assert_status 0
assert_same native.out out
assert_eq 1 "$(ls d | wc -l)" profiles
assert_complete d/*
assert_time_is_sane d/*
assert_calls d/* vfork_and_exit 200 work 200 main 1

it 'what frames of the first stack that never come back lay on is made inaccessible'
assert_same_as_native "$TARGETS/stacks" protected 1000
assert_complete profile
assert_calls profile descend 1001 nest 5050

finish
