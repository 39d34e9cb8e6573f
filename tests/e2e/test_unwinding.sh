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
cat >modules.c <<'END'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
struct seen {
	int ours, after_end, limit;
};
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct seen *seen = data;

	if (strcmp(info->dlpi_name, "[swizzle]") == 0)
		seen->ours++;
	if (seen->limit == 0)
		seen->after_end++;
	else
		seen->limit--;
	return seen->limit == 0 ? (int)size : 0;
}
void NAME(const char *who)
{
	struct seen all = {.limit = 1000}, first = {.limit = 1};
	int one = dl_iterate_phdr(visit, &all);
	int other = dl_iterate_phdr(visit, &first);

	printf("%s: %s, %d, %d, %d\n", who,
	       all.ours ? "ours" : "none of ours", one,
	       other == sizeof(struct dl_phdr_info), first.after_end);
}
#ifdef MAIN
void of_library(const char *who);
int main(void)
{
	of_program("program");
	of_library("library");
	return 0;
}
#else
int EXPORTED;
#endif
END
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
cat >list.c <<'END'
#ifdef MAIN
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
int unw_backtrace(void **addresses, int room);
static void *run(void *unused)
{
	void *list[20];

	printf("%d\n", unw_backtrace(list, 20));
	return unused;
}
int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_attr_setguardsize(&attributes, 1 << 16);
	return pthread_create(&thread, &attributes, run, 0) ||
	       pthread_join(thread, 0);
}
#else
int unw_backtrace(void **addresses, int room)
{
	for (int i = 0; i < room; i++)
		addresses[i] = (void *)unw_backtrace;
	return room;
}
int _ULx86_64_get_reg(void *cursor, int number, unsigned long *value)
{
	return !cursor || number || !value;
}
#endif
END
gcc -O1 -shared -fPIC -o liblist.so list.c
gcc -O1 -DMAIN -pthread -o list list.c -L. -llist -Wl,-rpath,"$TMP"
assert_same_as_native ./list

if have 'a profiled valgrind has nothing to say about our unwind table' valgrind; then
	capture timeout 240 "$RUN" -q -o v/ valgrind -q true
	assert_status 0
	assert_empty err
fi

finish
