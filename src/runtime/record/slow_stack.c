#include "runtime/record/slow_stack.h"

#include <stdatomic.h>

#include "base/syscall.h"

static bool is_on_slow_stack(const struct swz_thread_cold *cold)
{
	uintptr_t top = (uintptr_t)cold->slow_stack_top;

	return top - (uintptr_t)__builtin_frame_address(0) <
	       SWZ_SLOW_STACK_BYTES;
}

#define NEEDED_BYTES 384

__attribute__((noinline)) void swz_need_stack(void)
{
	char room[NEEDED_BYTES];

	room[0] = 0;
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Not at all if the state is in use: by a thread that was cloned with its
 * creator's thread-local storage, or by its creator. What both do elsewhere may
 * spoil numbers; here it would be the slow stack and fresh thunks. */
void swz_slowly(const struct swz_thread *thread, void (*function)(void *),
		void *argument)
{
	struct swz_thread_cold *cold = thread ? swz_thread_cold_of(thread)
					      : NULL;
	uint64_t all = ~(uint64_t)0, before;

	if (cold && is_on_slow_stack(cold)) {
		function(argument);
		return;
	}
	swz_need_stack();
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, 8);
	if (!cold || !cold->slow_stack_top) {
		function(argument);
	} else if (!atomic_flag_test_and_set_explicit(&cold->busy,
						      memory_order_acquire)) {
		swz_call_on_stack(function, argument, cold->slow_stack_top);
		/* release: matches the acquire above */
		atomic_flag_clear_explicit(&cold->busy, memory_order_release);
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &before, NULL, 8);
}
