/* A switch of stacks says nothing. It is noticed when a frame returns that is
 * not the latest: those entered after it are either gone or suspended. Their
 * accounts are closed as if they had returned, but the thunks stay as they are.
 * When one of them returns, it and its callers have been resumed: they are
 * entered again, in the context of who resumed them, only without counting
 * calls. So times are those during which a stack was in use, and the tree is
 * one at any moment.
 *
 * `link` is all that is known of a stack's order. It is cut where the next
 * frame does not lie above, so that each stack is suspended for itself. Stacks
 * that lie side by side may be taken for one, which costs exactness of times,
 * no more. */

#include "runtime/hooks/suspend.h"

#include <stddef.h>

#include "runtime/hooks/jumps.h"
#include "runtime/hooks/leave.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/activation.h"
#include "runtime/record/context.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/sampling.h"

/* Bounds a walk along frames that turns out to lead nowhere. Of those that lead
 * somewhere each frame pays its own: it is suspended once, or as often as it
 * has been resumed. */
#define MOST_SUSPENDED 65536u
/* A switch must not take the longer the deeper the stack is: callers beyond
 * stay suspended until they are returned to. */
#define MOST_RESUMED 64u
#define MOST_RECORDS 64u

static bool is_own(const struct swz_thread *thread,
		   const struct swz_thunk *frame)
{
	return frame && frame != &swz_bottom && frame->slot &&
	       swz_thread_owns(thread, frame);
}

/* How many of the thread's latest frames there are before `until`, all its own;
 * 0: it is not found behind them. Links may go in circles, where a handler has
 * switched stacks in the midst of a hook: the frame at each power of two is met
 * again then. */
static unsigned frames_before(const struct swz_thread *thread,
			      const struct swz_thunk *until)
{
	const struct swz_thunk *frame = thread->top, *met = NULL;

	for (unsigned i = 0; i <= MOST_SUSPENDED; i++) {
		if (frame == until)
			return i;
		if (!is_own(thread, frame) || frame == met)
			return 0;
		if (!(i & (i - 1)))
			met = frame;
		frame = frame->link;
	}
	return 0;
}

struct swz_thunk *swz_latest_at_home(const struct swz_thread *thread)
{
	struct swz_thunk *frame = thread->top;
	const struct swz_thunk *met = NULL;

	for (unsigned i = 0; i < MOST_SUSPENDED; i++) {
		if (!is_own(thread, frame) || frame->slot == SWZ_SLOT_GONE ||
		    swz_thread_at_home(thread, frame->slot))
			break;
		if (frame == met)
			return NULL;
		if (!(i & (i - 1)))
			met = frame;
		frame = frame->link;
	}
	return frame;
}

bool swz_suspend_after(struct swz_thread *thread, struct swz_thunk *until)
{
	unsigned count = frames_before(thread, until);
	struct swz_thunk *frame = thread->top, *next;
	uint64_t now = swz_now(thread);

	if (!count)
		return false;
	/* looked at again: another one may use the thread's state, too (a clone
	 * with its thread-local storage) */
	for (; count && is_own(thread, frame); count--, frame = next) {
		uint64_t start = frame->start_ticks;

		next = frame->link;
		swz_jumps_spell_out(thread, frame, swz_thread_make_record);
		swz_leave(thread, frame, now, SWZ_EVENT_SUSPEND);
		if (frame->node && frame->pending != SWZ_CLOSED)
			frame->start_ticks = swz_start_like(start,
							    SWZ_SUSPENDED);
		if (count == 1 || !next || next->slot <= frame->slot)
			frame->link = &swz_bottom;
		thread->cold->suspended++;
	}
	thread->top = until;
	return true;
}

/* Enters one activation again. An edge of its own where the caller is another
 * one now; else, or if there is no room, the one that it had. */
static uint32_t enter_again(struct swz_thread *thread, uint32_t unit,
			    uint64_t key, bool moved, uint64_t start)
{
	struct swz_node *node = swz_unit_at(unit), *other = NULL;

	if (moved)
		other = swz_context_edge(thread, key, node->function,
					 node->call_site);
	if (other)
		node = other;
	node->open |= SWZ_NODE_RESUMED;
	thread->key = swz_activation_resume(thread, node, start);
	return swz_unit_of(node);
}

/* One activation of a frame: its own, or that of a record. */
static void resume_one(struct swz_thread *thread, struct swz_thunk *thunk,
		       bool moved, uint64_t at)
{
	thunk->start_ticks = swz_start_like(thunk->start_ticks, at);
	thunk->node = enter_again(thread, thunk->node, thread->key, moved,
				  thunk->start_ticks);
}

static void resume_frame(struct swz_thread *thread, struct swz_thunk *frame,
			 uint64_t at)
{
	struct swz_thunk *records[MOST_RECORDS];
	bool moved = frame->parent != thread->key >> 32;
	unsigned count = 0;

	thread->cold->moved += moved;
	frame->parent = (uint32_t)(thread->key >> 32);
	resume_one(thread, frame, moved, at);
	for (struct swz_thunk *p = frame->pending;
	     swz_is_record(p) && count < MOST_RECORDS; p = p->pending)
		records[count++] = p;
	while (count--)
		resume_one(thread, records[count], moved, at);
}

void swz_resume(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *frames[MOST_RESUMED];
	uint64_t now = swz_now(thread);
	unsigned count = 0;

	for (struct swz_thunk *next = thunk; count < MOST_RESUMED;) {
		frames[count++] = next;
		next = next->link;
		if (!next || next == &swz_bottom || !swz_is_suspended(next) ||
		    next->slot <= frames[count - 1]->slot ||
		    !swz_thread_owns(thread, next))
			break;
	}
	frames[count - 1]->link = thread->top;
	/* each a step later than its caller: the order tells stale links */
	while (count--)
		resume_frame(thread, frames[count],
			     now - (uint64_t)count * SWZ_START_STEP);
	thread->top = thunk;
}
