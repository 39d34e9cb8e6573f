# shellcheck shell=bash
# C++ exceptions pass hooked frames: same program, each frame's calls counted.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets exceptions traps misaligned unwind

it 'throws across 100 frames in 4 threads'
assert_same_as_native "$TARGETS/exceptions" deep
assert_complete profile
assert_time_is_sane profile 5
dump_table profile
for n in 0 1 2 50 99 100; do
	assert_eq 2000 "$(row table calls "level<$n>")" "calls of level<$n>"
done
assert_eq '101 2000' "$(awk '!/^#/ && $(NF - 1) ~ /^level</ { print $1 }' table | sort |
	uniq -c | xargs)" 'calls of every level'
assert_eq 2000 "$(row table calls catch_deep)"
assert_eq 100000 "$(row table calls 'guard::~guard')"

it 'closes unwound frames when they are unwound'
# had they stayed open they would be charged with all that came later
total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' table)
assert_le "$(row table incl 'level<100>')" "$total" 'inclusive time'

it 'marks calls that an exception has ended, and no others'
for n in 0 1 50 100; do
	assert_eq 2000 "$(unwound table "level<$n>")" "unwound level<$n>"
done
for name in catch_deep guard::~guard main __cxa_begin_catch; do
	assert_eq 0 "$(unwound table "$name")" "unwound $name"
done
# the frames of 101 functions, and of what throws
assert_eq "$((102 * 2000)) calls" "$(info_value profile 'ended by an exception')"

it 'counts them for each of the threads that follow one another, and in a child'
rm -rf d
capture "$RUN" -o d/ "$TARGETS/exceptions" turns
assert_status 4
assert_empty err
for profile in d/*; do
	assert_complete "$profile"
	turns=4
	! grep -q '^flags: forked' info || turns=1
	assert_eq "$((turns * 102 * 50)) calls" \
		"$(info_value "$profile" 'ended by an exception')" "$profile"
	# threads that have ended take no time
	assert_time_is_sane "$profile" 2
done
assert_eq 2 "$(ls d | wc -l)" profiles

it 'catches in the very next frame, 1e5 times'
assert_same_as_native "$TARGETS/exceptions" next
assert_complete profile
assert_calls profile thrower 130000 catch_next 100000 \
	catch_next_destroying 10000 middle 10000 catch_middle 10000 \
	jump_on 10000 jump_to_thrower 10000 'guard::~guard' 10000
# what a frame has gone on to by jumps ends with it
for name in jump_on jump_to_thrower middle; do
	assert_eq 10000 "$(unwound table $name)" "unwound $name"
done
assert_eq 130000 "$(unwound table thrower)" 'unwound thrower'

it 'lets the unwinder go the way that it goes where the program has no hooks'
unwinders_calls() { # of profile: those of functions in the unwinder's module
	dump_table profile
	awk '!/^#/ && $NF ~ /^(libgcc_s|libstdc\+\+)/ { print $(NF - 1), $1 }' \
		table | sort
}
unwinders_calls >with_hooks
assert_ge "$(wc -l <with_hooks)" 20 'functions of the unwinder'
RUN_OPTIONS=(-M '!exceptions')
assert_same_as_native "$TARGETS/exceptions" next
RUN_OPTIONS=()
unwinders_calls >without_hooks
assert_same without_hooks with_hooks

it 'rethrows, and throws in a destructor of an unwound frame'
assert_same_as_native "$TARGETS/exceptions" rethrow
assert_complete profile
assert_calls profile thrower 40000 rethrower 10000 \
	rethrower_of_another 10000 catch_rethrown 10000 catch_kept 10000 \
	catch_busy 10000 with_busy 10000 'busy::~busy' 10000
# shellcheck disable=SC2046 # one line
assert_eq '40000 10000 10000 10000 0 0' "$(echo $(for name in thrower rethrower \
	rethrower_of_another with_busy catch_kept 'busy::~busy'; do
	unwound table "$name"
done))" 'unwound'

it 'throws through a caller that has not aligned the stack'
assert_same_as_native "$TARGETS/misaligned"
assert_complete profile
assert_calls profile main 1 guarded 6 middle 6 leaf 11
for name in guarded middle leaf on_signal; do
	assert_eq 2 "$(unwound table $name)" "unwound $name"
done

it 'ends by terminate where noexcept was promised'
assert_same_end "$TARGETS/exceptions" terminate
assert_readable profile
assert_calls profile promises 1 middle 1 thrower 1

it 'ends by an exception that nobody catches'
assert_same_end "$TARGETS/exceptions" uncaught
assert_readable profile
assert_calls profile 'level<100>' 1 'level<0>' 1

it 'a signal handler throws out of the first instruction of a function'
assert_same_as_native "$TARGETS/traps"
assert_eq $((500 * (7 + 8 + 1 + 1))) "$(cat out)"
assert_complete profile
assert_calls profile catcher 1000 load 1000

# Unwinders ask for addresses on and behind islands.
for tactic in padding neighbour; do
	it "through functions with a short jump into $tactic"
	export SWIZZLE_TEST_TACTIC=$tactic
	"$RUN" --list -v "$TARGETS/exceptions" >list
	assert_ge "$(grep -c 'patched by a short jump' list)" 20 'short jumps'
	assert_same_as_native "$TARGETS/exceptions" deep
	assert_complete profile
	assert_calls profile 'level<100>' 2000 catch_deep 2000
	assert_same_as_native "$TARGETS/exceptions" rethrow
	assert_same_as_native "$TARGETS/unwind"
	unset SWIZZLE_TEST_TACTIC
done

it 'a stripped program: its cold parts and landing pads have no names'
strip -o stripped "$TARGETS/exceptions"
for mode in deep next rethrow; do
	assert_same_as_native ./stripped $mode
	assert_complete profile
done
for mode in terminate uncaught; do
	assert_same_end ./stripped $mode
	assert_readable profile
done

it 'an unwinder that is linked into the program'
need_targets static_unwinder
assert_same_as_native "$TARGETS/static_unwinder"
assert_complete profile
assert_calls profile catcher 1000 thrower 1000 rethrower 1000 deep 51000
if have 'the same, which nothing in its symbol table tells' strip; then
	strip -o stripped "$TARGETS/static_unwinder" || abort 'not stripped'
	assert_same_as_native ./stripped
	assert_complete profile
	assert_matches info '^/.*/stripped +[0-9]+ +[1-9][0-9]+ +[0-9]+$'
	assert_not_contains info 'an unwinder of its own'
fi

finish
