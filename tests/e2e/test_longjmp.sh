# shellcheck shell=bash
# longjmp out of hooked frames: their thunks come back, counts stay exact.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets longjmp

it 'jumps out of 50 frames 1e5 times, in bounded memory'
assert_same_as_native "$TARGETS/longjmp" frames
assert_contains out 'memory did not grow'
assert_complete profile
assert_time_is_sane profile
assert_calls profile jump_from 100000 dive 5000000 leaf 99000
assert_eq dive "$(callees_of profile jump_from)" 'called by jump_from'
assert_eq dive "$(callees_of profile dive)" 'called by dive'

it 'closes the frames that were skipped'
# not one of them has returned: the shortest is one that was skipped (compensated,
# it may come to nothing on a machine under load)
"$DUMP" -f csv --no-compensate profile >csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 && $at["function"] ~ /dive/ { print $at["min_ns"] }' csv >shortest
[ "${TEST_TIMING:-}" = sampled ] ||
	assert_ge "$(cat shortest)" 1 'the shortest call of dive'
# an open frame would be charged with what came later: more than the whole
total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' table)
assert_le "$(row table incl dive)" "$total" 'inclusive time'
assert_ge "$(row table self leaf)" 0 'self time'

it 'jumps into the very next frame'
assert_same_as_native "$TARGETS/longjmp" next
assert_complete profile
assert_time_is_sane profile
assert_calls profile jump_at_once 1000 just_above 1000 leaf 1000
# what the frame that was jumped to calls then is called by it
assert_eq 'jump_at_once leaf' "$(callees_of profile just_above)" \
	'called by just_above'
assert_eq '' "$(callees_of profile jump_at_once)" 'called by jump_at_once'

it 'lands at another depth each time, without asking the kernel each time'
assert_same_as_native "$TARGETS/longjmp" depths
assert_complete profile
assert_calls profile land 82000 dive 12000 leaf 4000
if command -v strace >/dev/null; then
	strace -f -e trace=sigaltstack,rt_sigprocmask -o calls "$RUN" -q -o profile \
		"$TARGETS/longjmp" depths >/dev/null || fail 'under strace'
	assert_ge "$(grep -c . calls)" 1 'lines of strace'
	assert_le "$(grep -c -E 'sigaltstack|rt_sigprocmask' calls)" 1000 'system calls'
fi

# Each thread finds its own stack, though it has what a dead one has left.
it 'the same in threads, one after the other'
assert_same_as_native "$TARGETS/longjmp" threads
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile jump_at_once 200 just_above 200 leaf 200
assert_eq 'jump_at_once leaf' "$(callees_of profile just_above)" \
	'called by just_above'
assert_eq '' "$(callees_of profile jump_at_once)" 'called by jump_at_once'

it 'jumps at every level of frames that go on'
assert_same_as_native "$TARGETS/longjmp" reenter
assert_complete profile
assert_time_is_sane profile
assert_calls profile descend 21000 dive 84000 leaf 20000
assert_eq 'descend dive leaf' "$(callees_of profile descend)" \
	'called by descend'
assert_eq dive "$(callees_of profile dive)" 'called by dive'

it 'jumps out of a signal handler'
assert_same_as_native "$TARGETS/longjmp" signal
assert_contains out 'memory did not grow'
assert_complete profile
assert_time_is_sane profile
assert_calls profile raise_below 110000 on_signal 10000 dive 60000 leaf 10000
assert_eq 'leaf raise_below resident_kb say_growth' "$(
	callees_of profile jump_out_of_handlers
)" 'called by the frame that was jumped to'
assert_eq dive "$(callees_of profile dive)" 'called by dive'

for mode in altstack above; do
	it "jumps out of a signal handler on the alternate stack ($mode)"
	assert_same_as_native "$TARGETS/longjmp" $mode
	assert_contains out 'memory did not grow'
	assert_complete profile
	assert_time_is_sane profile 2
	assert_calls profile raise_below 110000 on_signal 10000 dive 60000 leaf 10000
	assert_eq 'leaf raise_below resident_kb say_growth' "$(
		callees_of profile jump_out_of_handlers
	)" 'called by the frame that was jumped to'
	assert_eq dive "$(callees_of profile dive)" 'called by dive'
done

# Those on the other stack might be resumed, those that called them were left.
it 'jumps back from another stack, however many frames there are on it'
assert_same_as_native "$TARGETS/longjmp" elsewhere
assert_complete profile
assert_time_is_sane profile
assert_calls profile go_elsewhere 4000 on_other_stack 1000 dive 150100 leaf 1000
assert_eq 'go_elsewhere leaf' "$(callees_of profile jump_back)" \
	'called by the frame that was jumped to'
assert_eq 'go_elsewhere on_other_stack' "$(callees_of profile go_elsewhere)" \
	'called by go_elsewhere'
assert_eq dive "$(callees_of profile on_other_stack)" \
	'called by the first frame of the other stack'
assert_eq dive "$(callees_of profile dive)" 'called by dive'

it 'keeps the signal mask of sigsetjmp'
assert_same_as_native "$TARGETS/longjmp" mask
assert_complete profile
assert_time_is_sane profile
assert_calls profile raise_below 110000 on_signal_mask 10000 leaf 20000

# Its functions that load a frame never return, and have thunks too.
it 'libc is hooked as well'
RUN_OPTIONS=(-M '*')
for how in frames next reenter signal altstack above mask; do
	assert_same_as_native "$TARGETS/longjmp" $how
	assert_not_contains out 'memory grew'
	assert_complete profile
	assert_time_is_sane profile 2
done
RUN_OPTIONS=()
assert_calls profile raise_below 110000 on_signal_mask 10000 leaf 20000

finish
