#ifndef SWZ_RUNTIME_HOOKS_SUSPEND_H
#define SWZ_RUNTIME_HOOKS_SUSPEND_H

/* Frames that are suspended with their stack (fibers, coroutines).
 * See docs/internals/frames.md. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/frames.h"
#include "runtime/record/thread.h"

/* Whether the live frame's accounts are closed until it is resumed. */
static inline bool swz_is_suspended(const struct swz_thunk *thunk)
{
	return swz_start_is_suspended(thunk->start_ticks) && thunk->node &&
	       thunk->pending != SWZ_CLOSED;
}

/* The latest frame that is not elsewhere than on the stack that the thread
 * began on (swz_thread_at_home()), or &swz_bottom; one that is elsewhere, if
 * there are very many; NULL: links lead nowhere. */
struct swz_thunk *swz_latest_at_home(const struct swz_thread *thread);

/* `until` (or &swz_bottom) is the latest frame of the stack that runs now: ends
 * the times of those that are later, and makes it `top`. Does nothing if it is
 * not among the thread's latest frames. Returns whether it was. Signals must be
 * blocked. */
bool swz_suspend_after(struct swz_thread *thread, struct swz_thunk *until);

/* A suspended frame runs again: it and those that called it on its stack (the
 * nearest 64) are open from now on, called by the thread's current context.
 * Signals must be blocked. */
void swz_resume(struct swz_thread *thread, struct swz_thunk *thunk);

#endif
