#include "runtime/hooks/leave.h"

#include "runtime/hooks/jumps.h"
#include "runtime/record/activation.h"
#include "runtime/record/events.h"
#include "runtime/record/frames.h"
#include "runtime/record/sampling.h"

/* Those without a record end with the frame. The time that the frame got from
 * its first timed call is theirs: jumps behind that have records. */
static void leave_jumps(struct swz_thread *thread,
			const struct swz_thunk *thunk, uint64_t start,
			uint64_t now, enum swz_event_kind how)
{
	uint32_t jumps[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, thunk, jumps);

	for (unsigned i = 0; i < count; i++)
		swz_activation_leave(thread, swz_unit_at(jumps[i]), start, now,
				     how);
}

static void leave(struct swz_thread *thread, struct swz_thunk *thunk,
		  uint64_t now, enum swz_event_kind how)
{
	uint64_t start = thunk->start_ticks;
	uint64_t called = 0; /* when the latest timed one of these began */

	/* 0: its entry was abandoned before anything was accounted, or its exit
	 * after */
	thunk->start_ticks = 0;
	if (thunk->pending == SWZ_CLOSED || !thunk->node || !start ||
	    swz_start_is_suspended(start))
		return;
	for (struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = p->pending) {
		if (called)
			swz_sampling_see(&p->start_ticks, called);
		swz_activation_leave(thread, swz_unit_at(p->node),
				     p->start_ticks, now, how);
		swz_events_unmute(thread, p);
		if (swz_sampling && swz_start_is_timed(p->start_ticks))
			called = p->start_ticks;
	}
	if (called)
		swz_sampling_see(&start, called);
	if (swz_sampling && !swz_start_is_timed(start))
		leave_jumps(thread, thunk, start, now, how);
	swz_activation_leave(thread, swz_unit_at(thunk->node), start, now, how);
	if (swz_sampling && swz_start_is_timed(start))
		called = start;
	if (called)
		swz_sampling_see_callers(thunk->link, called);
}

void swz_leave(struct swz_thread *thread, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how)
{
	leave(thread, thunk, now, how);
	swz_events_unmute(thread, thunk);
}
