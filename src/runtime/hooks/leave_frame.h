#ifndef SWZ_RUNTIME_HOOKS_LEAVE_FRAME_H
#define SWZ_RUNTIME_HOOKS_LEAVE_FRAME_H

#include <stdint.h>

#include "runtime/record/events.h"
#include "runtime/record/thread.h"

/* The thunk's frame, which was at this slot, has ended: accounts it and frees
 * the thunk, if that is live and the thread's. The context is its caller's from
 * now on. Async-signal-safe. */
void swz_leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
		     uint64_t *slot, enum swz_event_kind how);

/* The same of one that was the latest, all the thread's own, and is no more:
 * who calls has moved `top` on, and made its slot NULL. */
void swz_leave_taken(struct swz_thread *thread, struct swz_thunk *thunk,
		     enum swz_event_kind how);

#endif
