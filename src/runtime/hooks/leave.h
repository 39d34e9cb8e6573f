#ifndef SWZ_RUNTIME_HOOKS_LEAVE_H
#define SWZ_RUNTIME_HOOKS_LEAVE_H

/* The end of a frame, as its thread's accounts have it. */

#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/frames.h"
#include "runtime/record/thread.h"

/* What runs in a frame: what it stands for, or has gone on to by a tail call.
 */
static inline struct swz_node *swz_frame_node(const struct swz_thunk *thunk)
{
	const struct swz_thunk *pending = thunk->pending;

	if (pending == SWZ_FIRST_FRAME)
		return swz_unit_at(thunk->node);
	if (swz_is_jumps(pending))
		return swz_unit_at(swz_jumps_unit(pending));
	return swz_unit_at(pending ? pending->node : thunk->node);
}

/* Ends, at a biased time, what a frame stands for: its activation, and those
 * that it has gone on to by tail calls. Once; nothing if it was closed before.
 */
void swz_leave(struct swz_thread *thread, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how);

#endif
