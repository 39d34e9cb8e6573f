#ifndef SWZ_RUNTIME_RECORD_EVENTS_H
#define SWZ_RUNTIME_RECORD_EVENTS_H

/* Trace mode: every entry and exit with its time, in chunks of the profile
 * (swizzle/format.h). The calling context tree goes on beside it.
 *
 * swz_thread.event is the address of the thread's next event. It is moved on by
 * one compare-and-exchange, for which the clock was read after it was: so what
 * a signal handler records in between makes that fail, and all is done again
 * with signals blocked. Events are thus in the order of their times, and each
 * has a place of its own, whatever interrupts. The last eight bytes of a page
 * (its time) never hold an event: who comes to them turns the page
 * (swz_events_turn_in_hook). A page whose time is too long ago for the bits of
 * an event is turned, too.
 * See docs/internals/record.md. */

#include <stdbool.h>
#include <stdint.h>

#include "asm/x86_64/offsets.h"
#include "runtime/record/event_chunks.h"
#include "runtime/record/thread.h"

/* swz_thread.event of a thread that records no events. Like the end of a page:
 * the hooks need only one check. */
#define SWZ_NO_EVENTS ((uint64_t)(int64_t)SWZ_EVENTS_OFF)

/* Before anything is planned, and before the first thread begins. */
void swz_events_begin(void);

/* Before the clock's calibration is known too little to be of use: how long the
 * shortest calls must be. Of the calling thread, and of all that begin later.
 */
void swz_events_set_min_time(struct swz_thread *thread);

/* A thread has begun: its first chunk. Signals must be blocked, or nothing of
 * the program run. */
void swz_events_begin_thread(struct swz_thread *thread);

/* In a forked child: they are in the parent's file. */
void swz_events_forget(struct swz_thread_cold *cold);

/* Forgets the thread's events so far: those of our calibration. */
void swz_events_restart(struct swz_thread *thread);

/* --slow: from now on the thread's events go to this chunk, of a call that
 * begins; it is empty, and not valid yet. */
void swz_events_begin_call(struct swz_thread *thread, struct swz_chunk *chunk);

/* --slow: no call of the thread is watched any more, and nothing is recorded.
 * Returns up to where in its chunk of events something may be; 0: there is
 * none, or no more room in it. */
uint64_t swz_events_leave_out(struct swz_thread *thread);

/* Something happens to a node at a time (swz_now). */
void swz_events_add(struct swz_thread *thread, const struct swz_node *node,
		    enum swz_event_kind kind, uint64_t now);

/* A call has ended. If it was too short, and has no other calls' events in it,
 * its entry is taken back. */
void swz_events_add_end(struct swz_thread *thread, const struct swz_node *node,
			enum swz_event_kind kind, uint64_t start, uint64_t now);

/* Leaves out the events of a call that is about to be entered, and of what it
 * calls, until swz_events_mute_by(NULL). False: there are none as it is. */
bool swz_events_mute(struct swz_thread *thread, const uint64_t *slot);

/* BY is the call's frame, or its record on the frame. */
static inline void swz_events_mute_by(struct swz_thread *thread,
				      const struct swz_thunk *by,
				      const struct swz_thunk *frame)
{
	struct swz_thread_cold *cold = thread->cold;

	cold->muted_by = by;
	cold->muted_frame = frame;
	if (by)
		return;
	cold->muted_slot = NULL;
	/* an entry and an end each */
	thread->record->short_calls += cold->muted_events / 2;
	__atomic_store_n(&thread->event, cold->muted_event, __ATOMIC_RELAXED);
}

/* A call has ended: events go on, if it was the one. */
static inline void swz_events_unmute(struct swz_thread *thread,
				     const struct swz_thunk *by)
{
	if (__builtin_expect(thread->cold && thread->cold->muted_by == by && by,
			     0))
		swz_events_mute_by(thread, NULL, NULL);
}

/* For the hooks: the thread's next event has no place in the page. What to do:
 * nothing, as there are no events any more; try again; or as if a handler had
 * come between (below). */
enum swz_turn { SWZ_TURN_NONE = 0, SWZ_TURN_AGAIN = 1, SWZ_TURN_SLOWLY = 2 };
enum swz_turn swz_events_turn_in_hook(struct swz_thread *thread);

/* For the hooks, when a handler has come between: adds the entry or the return
 * of the thunk's call with signals blocked, and returns its time (rdtsc). */
uint64_t swz_events_enter_again(struct swz_thread *thread,
				const struct swz_thunk *thunk);
uint64_t swz_events_return_again(struct swz_thread *thread,
				 const struct swz_thunk *thunk);

/* For the exit hook: the thunk's call is shorter than min_ticks. Whether its
 * entry was the thread's latest event, and is no more. */
bool swz_events_take_back(struct swz_thread *thread,
			  const struct swz_thunk *thunk);

#endif
