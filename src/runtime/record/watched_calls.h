#ifndef SWZ_RUNTIME_RECORD_WATCHED_CALLS_H
#define SWZ_RUNTIME_RECORD_WATCHED_CALLS_H

/* --slow FUNCTION:TIME. A thread records events only while a call of a watched
 * function is open, the outermost of them, in chunks that belong to this call
 * alone. When it ends, its chunks stay in the profile or are used again
 * (record/kept_calls.h). So a trace takes the same room after a second and
 * after a week.
 *
 * All but swz_watched_calls_begin are async-signal-safe and take no lock. A
 * handler that interrupts one of them and calls a watched function finds the
 * thread amid a call, and its call is counted as not watched. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"

/* The calibration is over, in which the thread has recorded events: from now on
 * only calls that are watched have some. */
void swz_watched_calls_begin(struct swz_thread *thread);

/* The state is that of a thread that has ended, and with it what is open. */
void swz_watched_calls_end_thread(struct swz_thread *thread);

/* A call of a function with these flags (enum swz_filter_flags) is about to be
 * entered with this return slot. True: it is watched from now on, and its frame
 * has to be told. */
bool swz_watched_calls_enter(struct swz_thread *thread, uint8_t flags,
			     const uint64_t *slot);

/* BY is the call's frame, or its record on FRAME; NULL: it was not entered. */
void swz_watched_calls_entered(struct swz_thread *thread,
			       const struct swz_thunk *by,
			       const struct swz_thunk *frame);

/* A frame or a record of a jump, BY, has ended, or is suspended. NOW: as in
 * nodes. */
void swz_watched_calls_note_end(struct swz_thread *thread,
				const struct swz_thunk *by, uint64_t now,
				enum swz_event_kind how);

static inline void swz_watched_calls_ended(struct swz_thread *thread,
					   const struct swz_thunk *by,
					   uint64_t now,
					   enum swz_event_kind how)
{
	const struct swz_thread_cold *cold = thread->cold;

	if (__builtin_expect(swz_config.slow && cold && cold->watched.slot &&
				     (cold->watched.by == by ||
				      cold->watched.inner_by == by),
			     0))
		swz_watched_calls_note_end(thread, by, now, how);
}

#endif
