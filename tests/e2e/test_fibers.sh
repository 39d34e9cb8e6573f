# shellcheck shell=bash
# Stacks that are switched, in every way that a program can: the same output,
# exact counts, times that are those of a stack in use, and no thunk is lost.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fibers coroutines preempted

# A fiber yields from the fourth of its nested frames in each of its rounds, and
# once at its end.
assert_fibers() { # FIBERS ROUNDS: finished
	assert_complete profile
	assert_calls profile fiber_main "$1" below $(($1 * $2 * 4)) \
		work $(($1 * $2)) yield_now $(($1 * ($2 + 1))) \
		resume $(($1 * ($2 + 1)))
}

# One stack runs at a time: a suspended frame that went on being timed would
# make more of it than the thread lived.
assert_one_thread_time() {
	assert_time_is_sane profile
	# of two estimates either may be the greater
	[ "${TEST_TIMING:-}" = sampled ] ||
		assert_ge "$(row table incl resume)" "$(row table incl fiber_main)" \
			'time in resume, which holds that of the fibers'
}

# Native and profiled; the two processes' profiles are in the directory d.
fork_as_native() { # ARGUMENTS
	"$TARGETS/fibers" "$@" >native.out
	rm -rf d
	capture "$RUN" -o d/ "$TARGETS/fibers" "$@"
	assert_status 0
	assert_same native.out out
	assert_eq 2 "$(ls d | wc -l)" profiles
}

for kind in ucontext asm; do
	for mode in switch thread above; do
		it "$mode, $kind"
		assert_same_as_native "$TARGETS/fibers" $mode $kind 10 1000
		assert_fibers 10 1000
		[ $mode != switch ] || assert_one_thread_time
		[ $kind = ucontext ] ||
			assert_calls profile switch_stacks $((2 * 10 * 1001))
	done

	it "many that each start the next one, $kind"
	assert_same_as_native "$TARGETS/fibers" relay $kind 2000 5
	assert_complete profile
	assert_calls profile fiber_main 2000 below $((2000 * 5 * 4)) \
		work $((2000 * 5)) yield_now $((2000 * 6)) \
		resume $((2000 * 5 + 1)) between $((2000 * 5 + 1))
	assert_one_thread_time

	it "stacks of more frames than are resumed at once, $kind"
	assert_same_as_native "$TARGETS/fibers" tall $kind 10 100
	assert_complete profile
	assert_calls profile fiber_main 10 below $((10 * 100 * 201)) \
		work $((10 * 100)) yield_now $((10 * 101)) resume $((10 * 101))
	assert_one_thread_time

	it "resumed by other threads, $kind"
	assert_same_as_native "$TARGETS/fibers" migrate $kind 20 500
	assert_fibers 20 500
	assert_time_is_sane profile 5
	assert_calls profile resumer 4

	it "resumed by threads that follow one another, $kind"
	assert_same_as_native "$TARGETS/fibers" inherit $kind 100 20
	assert_complete profile
	assert_calls profile fiber_main 100 below $((100 * 20 * 4)) heir 21 \
		resume 2100 deep $((21 * 2 * 1001)) work $((100 * 20 + 21 * 2))

	it "resumed by any of many threads that end soon, $kind"
	assert_same_as_native "$TARGETS/fibers" scatter $kind 500 20
	assert_complete profile
	assert_calls profile fiber_main 500

	# (that a fiber goes on shows when one of its frames returns)
	it "what is called by who resumes a fiber is not called by the fiber, $kind"
	RUN_OPTIONS=(-H 'resume' -H 'switch_stacks' -H 'yield_now')
	for mode in switch thread above; do
		assert_same_as_native "$TARGETS/fibers" $mode $kind 10 100
		assert_complete profile
		assert_calls profile fiber_main 10 between 1010 resume 0
		assert_eq 'below running' "$(callees_of profile below)" \
			"called by below ($mode)"
		assert_eq 'between fiber_main set_running sum_of work' \
			"$(callees_of profile switching)" \
			"called by switching ($mode)"
	done
	RUN_OPTIONS=()

	for mode in destroy same; do
		it "left suspended, $mode stack, $kind"
		assert_same_as_native "$TARGETS/fibers" $mode $kind 5000
		assert_contains out 'code did not grow'
		assert_complete profile
		assert_calls profile fiber_main 5000 below $((5000 * 3 * 4)) \
			work $((5000 * 2)) yield_now $((5000 * 3))
		assert_one_thread_time
	done

	# a fiber that is 1 to 12 calls deep, beside its first and the yield
	it "left suspended faster than is swept at leisure, $kind"
	assert_same_as_native "$TARGETS/fibers" leave $kind 50 1000
	assert_contains out 'code did not grow'
	assert_complete profile
	assert_calls profile fiber_main 50000 yield_now 50000 work 0

	it "resumed in a forked child, $kind"
	fork_as_native fork $kind 10 50
	for profile in d/*; do
		assert_readable "$profile"
		assert_time_is_sane "$profile"
		# the first round of each was made before the fork
		if "$DUMP" -f info "$profile" | grep -q '^flags:.*forked'; then
			assert_calls "$profile" fiber_main 0 resume 500 work 500
		else
			assert_calls "$profile" fiber_main 10 resume 510 work 500
		fi
	done

	it "where no stack can be read as long as it is suspended, $kind"
	fork_as_native sealed $kind 20 20
	for profile in d/*; do assert_calls "$profile" dive 4220; done

	it "many at once, again and again, $kind"
	assert_same_as_native "$TARGETS/fibers" many $kind 3000 6
	assert_contains out 'code did not grow'
	assert_fibers $((3000 * 6)) 1
done

it 'stacks that code made at run time begins'
assert_same_as_native "$TARGETS/fibers" same made 5000
assert_contains out 'code did not grow'
assert_complete profile
assert_calls profile fiber_main 5000 work 10000 yield_now 15000
assert_one_thread_time
assert_same_as_native "$TARGETS/fibers" leave made 50 1000
assert_contains out 'code did not grow'
assert_same_as_native "$TARGETS/fibers" above made 10 100
assert_fibers 10 100

# No word of another stack may be read then: nothing is taken to be gone.
if have 'where the kernel does not let us read other stacks' strace; then
	for mode in 'many asm 2000 1' 'inherit asm 20 5' 'migrate asm 20 50'; do
		# shellcheck disable=SC2086
		"$TARGETS/fibers" $mode >native.out
		# shellcheck disable=SC2086
		capture timeout 240 strace -f -q -o log -e trace=process_vm_readv \
			-e inject=process_vm_readv:error=EPERM \
			"$RUN" -q -o profile "$TARGETS/fibers" $mode
		assert_status 0
		assert_same native.out out
		assert_matches log 'process_vm_readv\(.*EPERM.*INJECTED'
	done
fi

it 'more than 65536 at once'
assert_same_as_native "$TARGETS/fibers" many asm 70000 1
assert_fibers 70000 1
assert_one_thread_time

it 'a context that is set again and again'
assert_same_as_native "$TARGETS/fibers" loop ucontext 10000
assert_contains out 'code did not grow'
assert_complete profile
assert_time_is_sane profile
assert_calls profile looping 1 go_back 100000 work 10001
RUN_OPTIONS=(-M '*') # setcontext, which does not return, too
assert_same_as_native "$TARGETS/fibers" loop ucontext 10000
RUN_OPTIONS=()
assert_contains out 'code did not grow'
assert_complete profile
assert_time_is_sane profile
assert_calls profile go_back 100000 work 10001 setcontext 10000

# Whatever a hook was about when its handler switched, others have done meanwhile:
# they have taken the same thunk, or ended the same record of a tail call.
it 'a timer switches stacks in the midst of hooks'
for options in '' '--timing sampled' '-m trace' '-D 100'; do
	# shellcheck disable=SC2086
	use_options $options || continue
	rounds=3
	# a frame that is its own caller by then: an endless walk, seldom
	[ "$options" != '--timing sampled' ] || rounds=8
	for ((round = 0; round < rounds; round++)); do
		assert_same_as_native "$TARGETS/preempted"
		assert_contains out 'switched'
		"$DUMP" -f text profile >table 2>/dev/null
		# some calls by jumps are lost
		assert_eq "$(row table calls work_down)" \
			"$(sed -n 's/^work_down //p' out)" 'calls of work_down'
		assert_ge "$(row table calls work_leaf)" \
			$(($(sed -n 's/^work_leaf //p' out) * 98 / 100)) \
			'calls of work_leaf'
	done
done
RUN_OPTIONS=()

it 'stacks that are begun from anew'
need_targets restarted
for options in '' '--timing sampled' '-m trace'; do
	# shellcheck disable=SC2086
	use_options $options || continue
	assert_same_as_native "$TARGETS/restarted"
	assert_complete profile
	assert_time_is_sane profile
	assert_calls profile first_function 100 begin 100 go_on 100 work 200 \
		switch_stacks 400
done
RUN_OPTIONS=()

it 'C++ coroutines'
assert_same_as_native "$TARGETS/coroutines"
assert_complete profile
assert_time_is_sane profile
# a generator of 10 values is resumed 11 times; each of two in a chain works
dump_table profile --demangle=no
assert_eq $((1000 * (10 + 10 + 1 + 2))) "$(row table calls _Z4workl)" \
	'calls of work'
assert_eq $((1000 * (11 + 11 + 1))) \
	"$(row table calls _ZN9generator4nextEv)" 'calls of next'

# A function that is put on top of a stack which had been switched away from (by
# boost::context, where a fiber has ended) belongs to who switched, and not below
# the stack that was left for it.
program on_top.c >on_top.c
gcc -O1 -o on_top on_top.c || abort 'on_top is not built'
wall() { # FUNCTION: ns in it, running and waiting
	awk -F , -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] == name { ns += $at["incl_ns"] + $at["incl_waiting_ns"] }
		END { printf "%.0f", ns }' csv
}

for timing in exact sampled; do
	use_options --timing $timing || continue
	it "a function on top of another stack, $timing"
	assert_same_as_native ./on_top
	assert_complete profile
	assert_not_contains "$TMP/info" repaired
	assert_calls profile switch_stack 1 fiber 1 on_fiber 1 after 1 wait_ms 2
	assert_eq 'after fiber' "$(callees_of profile switch_stack)" \
		'called by switch_stack'
	# 200 ms and 100 ms, of which the latter are not the fiber's
	"$DUMP" -q -f csv -o - profile >csv
	fiber=$(wall fiber) after=$(wall after)
	assert_ge "$fiber" 200000000 'ns in fiber'
	assert_ge "$after" 100000000 'ns in after'
	[ "$((2 * fiber))" -lt "$((5 * after))" ] ||
		fail "fiber $fiber ns, after $after ns"
done

finish
