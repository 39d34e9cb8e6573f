# shellcheck shell=bash
# A signal at every instruction of trampolines, thunks and hooks: its handler
# runs hooked functions, walks the stack to main, and returns, jumps or throws.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets stepper step

usual_mode() {
	unset SWIZZLE_TIMING SWIZZLE_FOLLOW
	export SWIZZLE_MODE=$USUAL_MODE
}
USUAL_MODE=$SWIZZLE_MODE
EVERY=3 # of the instructions; a loop's have another one each time
[ -z "${TEST_LONG:-}" ] || EVERY=1

# The program's own run is stepped through too: what is counted as "handled" is
# one for each instruction, so there are many more with the hooks than without.
step() { # HOW STACK WORK [STRIDE]
	[ $# -gt 3 ] || set -- "$@" "$EVERY"
	"$TARGETS/stepper" "$TARGETS/step" "$@" >native.out 2>native.err
	capture "$TARGETS/stepper" "$RUN" -q -o profile "$TARGETS/step" "$@"
	assert_status 0
	assert_eq '0 wrong' "$(cat native.out)" 'native run'
	assert_eq '0 wrong' "$(cat out)"
	read -r alone _ <native.err
	read -r handled _ attempts _ _ _ pits _ <err
	assert_ge "$handled" $((alone + 100 / ${4:-EVERY})) 'instructions'
}

for stack in own alt; do
	it "returns from a handler on its $stack stack: counts are exact"
	step return $stack warm
	assert_complete profile
	assert_time_is_sane profile
	assert_calls profile main 1 in_handler "$handled" guarded 2 middle 2 \
		leaf $((4 + handled)) on_signal "$handled"
	step return $stack fresh
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((1 + handled))
	step return $stack tail
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) jumper 2
	step return $stack deep
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) down 13
	[ $stack = own ] || continue
	step return $stack load
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) loader 2
	step return $stack late
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) \
		late_loader 2
done

# Frames of a recursion that share a leader's code, of which the exception has made
# one stop that.
export SWIZZLE_TEST_OWN_THUNKS=0 SWIZZLE_TEST_OWN_FRAMES=0
for mode in '' 'MODE=trace' 'TIMING=sampled'; do
	it "a handler throws, and catches, through what it has interrupted $mode"
	[ -z "$mode" ] || export "SWIZZLE_$mode"
	step return own pit
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf "$handled" \
		pit "$pits" bottom $((2 + handled))
	usual_mode
done
it 'the same where a thunk has followed until then'
step single own pits 73
assert_complete profile
assert_calls profile in_handler "$handled" leaf "$handled" \
	bottom $((1 + 3 * attempts + handled))
unset SWIZZLE_TEST_OWN_THUNKS SWIZZLE_TEST_OWN_FRAMES

# With filters: where a handler interrupts a hook, what it calls may be recorded
# below the function that is entered or left just then, and is wanted or not
# accordingly.
for mode in '' 'MODE=trace' 'TIMING=sampled'; do
	[ -z "$mode" ] || export "SWIZZLE_$mode"
	it "a longjmp from within $mode"
	step return own leap
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) leaper 2 \
		leaps 2
	it "chains of jumps, with the hooks of $mode"
	step return own chain
	assert_complete profile
	assert_calls profile in_handler "$handled" leaf $((2 + handled)) jumper 2 \
		second 2 first 2
	it "the same with the hooks that filters need $mode"
	export SWIZZLE_DEPTH=1000
	step return own warm
	assert_calls profile main 1 in_handler "$handled" guarded 2 middle 2 \
		leaf $((4 + handled)) on_signal "$handled"
	unset SWIZZLE_DEPTH
	export SWIZZLE_NOTRACE=middle
	step return own warm
	assert_calls profile main 1 guarded 2 middle 0
	assert_le "$(row table calls in_handler)" "$handled" in_handler
	assert_ge "$(row table calls in_handler)" $((handled / 2)) in_handler
	unset SWIZZLE_NOTRACE
	export SWIZZLE_FILTER=leaf
	step return own warm
	assert_calls profile main 0 guarded 0 middle 0 leaf $((4 + handled))
	assert_eq "$(row table calls on_signal)" "$(row table calls in_handler)"
	assert_le "$(row table calls in_handler)" $((handled / 2)) in_handler
	unset SWIZZLE_FILTER
	usual_mode
done

it 'the same with the hooks of a trace: each call has its events, nested'
export SWIZZLE_MODE=trace
assert_events() {
	"$DUMP" -f info profile >info
	assert_not_contains info 'events that do not fit'
	"$DUMP" -f text profile | awk '!/^#/ { print $1, $4, $5 }' | sort >tree
	"$DUMP" -f text --from 0 profile | awk '!/^#/ { print $1, $4, $5 }' | sort >events
	assert_same tree events
}
step return own warm
assert_complete profile
assert_calls profile main 1 in_handler "$handled" guarded 2 middle 2 \
	leaf $((4 + handled)) on_signal "$handled"
assert_events
step return alt tail
assert_calls profile in_handler "$handled" leaf $((2 + handled)) jumper 2
assert_events
# a hook's chunk is full, and the next, before it has stored its event, which it
# does six instructions after it took its place
step single own flood 5
assert_calls profile in_handler "$handled" \
	leaf $((1 + 2 * attempts + 20001 * handled))
assert_events
export SWIZZLE_DEPTH=1000 SWIZZLE_MIN_TIME=1ms
step return own warm
assert_calls profile main 1 in_handler "$handled" guarded 2 middle 2 \
	leaf $((4 + handled)) on_signal "$handled"
"$DUMP" -f info profile >info
assert_not_contains info 'events that do not fit'
unset SWIZZLE_DEPTH SWIZZLE_MIN_TIME
# what is abandoned may lack one of its events
step jump own warm 61
assert_readable profile
assert_calls profile main 1 in_handler "$handled"
"$DUMP" -f chrome -o chrome profile || fail 'chrome'
usual_mode

# The handler is one more that is called in that context, just when these have to
# go elsewhere.
it 'more edges than are kept beside a context'
step single own siblings 401
assert_complete profile
assert_le "$attempts" 256 'attempts, each in a context of its own'
assert_calls profile in_handler "$handled" on_signal "$handled" \
	leaf $((12 * attempts + handled))

# The child has a profile of its own, made when its handler returns, and goes on in
# the hook that the parent's has begun.
it 'a child that the handler has forked returns from it, too'
for mode in '' TIMING=sampled MODE=trace MODE=count FOLLOW=0; do
	[ -z "$mode" ] || export "SWIZZLE_$mode"
	for how in 'own warm' 'alt siblings' 'own chain' 'alt leap'; do
		# shellcheck disable=SC2086
		step fork $how $((EVERY * 67))
		assert_complete profile
		assert_calls profile main 1 in_handler "$handled" on_signal "$handled"
		assert_not_contains err 'a child has ended'
		if [ "$mode" != FOLLOW=0 ]; then
			"$DUMP" -f text profile.* >all || fail 'profiles of children'
		fi
		rm -f profile.*
	done
	usual_mode
done

# A handler that leaves a hook half done: every call that was made undisturbed
# is counted, and at most one for each of the others.
for how in jump throw; do
	for stack in own alt; do
		stride=${STEP_STRIDE:-131}
		[ $stack = own ] || stride=${STEP_STRIDE:-127}
		it "leaves by $how from a handler on its $stack stack"
		step $how $stack warm "$stride"
		assert_readable profile
		assert_calls profile main 1 in_handler "$handled"
		assert_ge "$(row table calls guarded)" "$attempts" 'guarded'
		assert_le "$(row table calls guarded)" $((2 * attempts + 1)) 'guarded'
		for work in tail chain leap; do
			step $how $stack $work "$stride"
			assert_readable profile
			assert_calls profile main 1 in_handler "$handled"
			name=jumper
			[ $work != leap ] || name=leaper
			assert_ge "$(row table calls $name)" "$attempts" "$work"
			assert_le "$(row table calls $name)" $((2 * attempts + 1)) "$work"
		done
	done
done

finish
