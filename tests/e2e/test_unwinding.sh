# shellcheck shell=bash
# Stack walks and forced unwinding pass return thunks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets unwind cancel

for mode in backtrace walk; do
	it "$mode reaches main and sees no frame of ours"
	assert_same_as_native "$TARGETS/unwind" $mode
	assert_contains out '100 times main was reached'
	assert_contains err 'none of ours'
	assert_complete profile
	assert_calls profile nest 2121 run 1 main 1
	it "$mode, where the unwinder is out of scope"
	RUN_OPTIONS=(-M unwind)
	assert_same_as_native "$TARGETS/unwind" $mode
	RUN_OPTIONS=()
	assert_calls profile nest 2121 run 1 main 1
done

for mode in exit deferred asynchronous busy; do
	it "threads that end by $mode run all destructors and cleanups"
	assert_same_as_native "$TARGETS/cancel" $mode
	assert_contains out '1000 destroyed, 1000 cleaned'
	assert_complete profile
	assert_calls profile run 50 nest 1000 bottom 50 on_cleanup 1000 \
		'guard::~guard' 1000
	assert_eq 1000 "$(unwound table nest)" 'unwound nest'
	[ $mode != busy ] || assert_ge "$(row table calls fib)" 50 'calls of fib'
done

if have "gdb's backtrace reaches main through hooked frames" gdb; then
	capture timeout 240 "${GDB[@]}" -ex 'set startup-with-shell off' \
		-ex "set environment LD_PRELOAD $LIBSWIZZLE" \
		-ex "set environment SWIZZLE_OUTPUT $TMP/gdb.profile" \
		-ex 'break bottom' -ex run -ex bt -ex 'delete' -ex finish \
		-ex bt -ex continue --args "$TARGETS/cancel" deferred
	assert_matches out '^#[0-9]+ .*run'
	assert_ge "$(grep -c '^#.* nest' out)" 20 'frames of nest'
fi

it 'trampolines are shown to unwinders alone, as long as these ask for more'
need gcc
program modules.c >modules.c
for name in unw_step _ULx86_64_step _Unwind_Backtrace _Unwind_RaiseException \
	nothing; do
	gcc -O1 -shared -fPIC -DNAME=of_library -DEXPORTED=$name \
		-o libmodules.so modules.c
	gcc -O1 -DMAIN -DNAME=of_program -o modules modules.c -L. -lmodules \
		-Wl,-rpath,"$TMP"
	capture "$RUN" -q -o profile ./modules
	assert_status 0
	assert_contains out 'program: none of ours, 0, 1, 0'
	if [ $name = nothing ]; then
		assert_contains out 'library: none of ours, 0, 1, 0'
	else
		assert_contains out 'library: ours, 0, 1, 0'
	fi
done

it 'what lists the callers needs no more of a small stack than the list does'
program list.c >list.c
gcc -O1 -shared -fPIC -o liblist.so list.c
gcc -O1 -DMAIN -pthread -o list list.c -L. -llist -Wl,-rpath,"$TMP"
assert_same_as_native ./list

if have 'a profiled valgrind has nothing to say about our unwind table' valgrind; then
	capture timeout 240 "$RUN" -q -o v/ valgrind -q true
	assert_status 0
	assert_empty err
fi

finish
