/* To an unwinder each thunk is one more frame, with unwind information to be
 * found, read and executed: as much work as a frame of the program's, and once
 * more if it lands there. So slots get their real return addresses back while
 * an unwinder is on its way through them.
 *
 * A slot changes only from its thunk's address to the real one that the thunk
 * leads to, and back: whatever has become of the frame meanwhile, control goes
 * where it would have gone. */

#include "runtime/hooks/exposed_frames.h"

#include "runtime/hooks/suspend.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/frames.h"

/* At first; twice as many each next time, but no more than that. */
#define FIRST_EXPOSED 16u
#define MOST_EXPOSED 512u

/* The unwinder's own, and those of signal handlers, before the exposed ones. */
#define MOST_BEFORE 4096u

bool swz_frame_is_amid_stack(const struct swz_thread *thread,
			     const struct swz_thunk *frame)
{
	const struct swz_thunk *link = frame->link;

	return frame->slot && frame->node && swz_thread_owns(thread, frame) &&
	       frame->pending != SWZ_CLOSED && !swz_is_suspended(frame) &&
	       link && (link == &swz_bottom || link->slot > frame->slot);
}

static void write_slot(uint64_t *slot, uint64_t address)
{
	*(volatile uint64_t *)slot = address;
}

void swz_frames_expose(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	struct swz_thread_cold *cold = thread->cold;
	const struct swz_thunk *y = thunk;
	unsigned most = cold->exposed_high ? cold->expose_next : FIRST_EXPOSED;

	cold->expose_next = (uint16_t)(most < MOST_EXPOSED ? 2 * most : most);
	for (;
	     most-- && y != &swz_bottom && swz_frame_is_amid_stack(thread, y) &&
	     *y->slot == swz_thunk_address(y);
	     y = y->link) {
		/* first: a signal handler may throw, too, and cover it */
		if (!cold->exposed_high || y->slot < cold->exposed_low)
			cold->exposed_low = y->slot;
		if (!cold->exposed_high || y->slot > cold->exposed_high)
			cold->exposed_high = y->slot;
		write_slot(y->slot, y->return_address);
	}
}

void swz_frames_expose_callers(struct swz_thread *thread,
			       const struct swz_thunk *thunk)
{
	if (swz_frame_is_amid_stack(thread, thunk))
		swz_frames_expose(thread, thunk->link);
}

void swz_frames_cover(struct swz_thread *thread, const uint64_t *least)
{
	struct swz_thread_cold *cold = thread->cold;
	const uint64_t *low = cold->exposed_low, *high = cold->exposed_high;
	const struct swz_thunk *y = thread->top;
	unsigned before = 0;

	if (!high)
		return;
	cold->exposed_high = NULL;
	for (; y && y != &swz_bottom; y = y->link) {
		if (y->slot < low || y->slot > high) {
			if (before++ == MOST_BEFORE)
				return;
			continue;
		}
		before = MOST_BEFORE; /* none behind them */
		if (y->slot >= least && *y->slot == y->return_address &&
		    swz_thread_owns(thread, y))
			write_slot(y->slot, swz_thunk_address(y));
	}
}
