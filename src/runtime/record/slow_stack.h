#ifndef SWZ_RUNTIME_RECORD_SLOW_STACK_H
#define SWZ_RUNTIME_RECORD_SLOW_STACK_H

/* A stack of each thread's, for what the hooks do seldom: the program's may
 * have no room for more. */

#include "runtime/record/thread.h"

#define SWZ_SLOW_STACK_BYTES (32u << 10)

/* Calls the function with signals blocked, on the thread's slow stack, which
 * the caller may be on; not at all if another one is. */
void swz_slowly(const struct swz_thread *thread, void (*function)(void *),
		void *argument);

/* Before signals are blocked: what it takes of the caller's stack until they
 * are no more. If there is no room for it, the program is to have its SIGSEGV
 * now: one that is blocked is the end. */
void swz_need_stack(void);

/* Calls function(argument) on another stack (asm/x86_64/stack.S); its top is
 * a multiple of 16. */
void swz_call_on_stack(void (*function)(void *), void *argument,
		       void *stack_top);

#endif
