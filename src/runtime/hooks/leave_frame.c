#include "runtime/hooks/leave_frame.h"

#include <stddef.h>

#include "runtime/hooks/captured.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/leave.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/file.h"
#include "runtime/record/frames.h"
#include "runtime/record/processor_time.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/signatures.h"
#include "runtime/record/switches.h"
#include "thunks/leaders.h"

/* Whether the thunk, which is not live, is free for the edge that it names: in
 * a forked child that may have been an edge of the parent's. */
static bool is_free(const struct swz_thread *thread,
		    const struct swz_thunk *thunk)
{
	const struct swz_thunk *t = swz_free_first(
		swz_free_thunks(thread, swz_unit_at(thunk->node)));

	for (unsigned i = 0; t && t != thunk && i < SWZ_ARENA_BLOCKS; i++)
		t = swz_free_next(t);
	return t == thunk;
}

/* A frame of one of the leader's followers returns a second time: which one it
 * was is not known any more. Those of a recursion have mostly been called in
 * one context. */
static void leave_returned(struct swz_thread *thread,
			   const struct swz_thunk *leader)
{
	uint32_t parent = swz_leader_parent(leader, thread->cold->index);

	if (!parent)
		return;
	thread->key = (uint64_t)parent << 32;
	thread->expected = &thread->links[parent].first;
}

/* Whether it is the thread's first frame, which is none any more. */
static bool take_first(struct swz_thread *thread, struct swz_thunk *thunk)
{
	if (thread->cold->first_frame != thunk || !swz_is_first_frame(thunk))
		return false;
	thread->cold->first_frame = NULL;
	return true;
}

static uint64_t note_now(struct swz_thread *thread)
{
	uint64_t now = swz_now(thread);

	thread->record->last_ticks = swz_ticks_of(thread, now);
	return now;
}

static void note_processor_time(struct swz_thread *thread, bool is_first)
{
	if (!is_first) {
		swz_processor_time_note_sometimes(thread->record,
						  thread->record->last_ticks);
		return;
	}
	swz_processor_time_note(thread->record);
	swz_switches_take_now(thread);
}

void swz_leave_taken(struct swz_thread *thread, struct swz_thunk *thunk,
		     enum swz_event_kind how)
{
	uint64_t now = note_now(thread);
	bool is_first = take_first(thread, thunk);

	thread->expected = &thread->links[thunk->node].next;
	swz_leave(thread, thunk, now, how);
	swz_thread_free_thunk(thread, thunk);
	note_processor_time(thread, is_first);
}

void swz_leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
		     uint64_t *slot, enum swz_event_kind how)
{
	uint64_t now;
	bool is_first, muted;

	/* one that is not live returns a second time: its stack was copied */
	bool live = thunk->slot != NULL;

	if (!swz_thread_owns(thread, thunk) || !thunk->node ||
	    (!live && !is_free(thread, thunk))) {
		/* its stack was resumed on this thread, or in a forked child:
		 * the accounts are those of another one */
		if (thread->top == thunk) {
			thread->top = thunk->link;
			swz_set_key(thread, thread->top);
		}
		if (live)
			swz_thread_give_up_thunk(thunk, slot);
		else if (swz_thunk_leads(thunk))
			leave_returned(thread, thunk);
		return;
	}
	if (live && thread->top != thunk)
		swz_make_latest(thread, thunk);
	now = note_now(thread);
	thread->key = (uint64_t)thunk->parent << 32;
	thread->expected = &thread->links[thunk->node].next;
	if (!live)
		return;
	is_first = take_first(thread, thunk);
	muted = thread->cold->muted_slot != NULL;
	swz_leave(thread, thunk, now, how);
	if (swz_capturing && how == SWZ_EVENT_RETURN && !muted)
		swz_captured_return(thread, thunk, now, slot);
	thread->top = thunk->link ? thunk->link : &swz_bottom;
	swz_thread_free_thunk(thread, thunk);
	note_processor_time(thread, is_first);
}
