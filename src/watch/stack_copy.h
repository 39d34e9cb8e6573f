#ifndef SWZ_WATCH_STACK_COPY_H
#define SWZ_WATCH_STACK_COPY_H

/* Stacks of threads that do not run. */

#include <stddef.h>
#include <stdint.h>

#include "watch/unwind/unwinder.h"

/* Copies BYTES of the stack of thread TID from SP on, at most
 * SWZ_MOST_STACK_BYTES. (The process's first thread may have ended.)
 * THREAD_POINTER: what %fs holds; if it is not 0, the thread's outermost frames
 * are copied, too. The copy is good until the next call. */
void swz_stack_copy(int32_t tid, uint64_t sp, uint64_t thread_pointer,
		    size_t bytes, struct swz_stack *stack);

#endif
