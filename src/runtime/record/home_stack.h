#ifndef SWZ_RUNTIME_RECORD_HOME_STACK_H
#define SWZ_RUNTIME_RECORD_HOME_STACK_H

/* The stack that a thread began on, as against those of fibers, coroutines and
 * signal handlers. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Whether both places lie on the stack that the thread began on. Signals must
 * be blocked. */
bool swz_thread_same_stack(struct swz_thread *thread, const uint64_t *a,
			   const uint64_t *b);

/* Whether a place lies on that stack, as far as it was asked for before. */
bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot);

/* Where the main thread's stack begins; to be set before the first thread. */
void swz_thread_set_main_stack(const void *top);

/* Whether it lies on the main thread's stack, where any word may be read. */
bool swz_on_main_stack(const uint64_t *slot);

#endif
