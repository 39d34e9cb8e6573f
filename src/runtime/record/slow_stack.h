#ifndef SWZ_RUNTIME_RECORD_SLOW_STACK_H
#define SWZ_RUNTIME_RECORD_SLOW_STACK_H

/* A stack of each thread's, for what the hooks do seldom: the program's may
 * have no room for more. */

#include <stdbool.h>

#include "runtime/record/thread.h"

#define SWZ_SLOW_STACK_BYTES (32u << 10)

/* Calls the function with signals blocked, on the thread's slow stack; not at
 * all if that is in use. */
void swz_slowly(const struct swz_thread *thread, void (*function)(void *),
		void *argument);

/* Calls function(argument) on another stack (asm/x86_64/stack.S); its top is
 * a multiple of 16. */
void swz_call_on_stack(void (*function)(void *), void *argument,
		       void *stack_top);

/* Whether the caller runs on the thread's slow stack. */
bool swz_on_slow_stack(const struct swz_thread *thread);

#endif
