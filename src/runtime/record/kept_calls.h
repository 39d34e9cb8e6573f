#ifndef SWZ_RUNTIME_RECORD_KEPT_CALLS_H
#define SWZ_RUNTIME_RECORD_KEPT_CALLS_H

/* The calls whose events stay with --slow: of each rule the slowest, and a
 * random choice of the others, with which they can be compared; and the chunks
 * that calls are recorded in. All are async-signal-safe but for
 * swz_kept_calls_begin, and take no lock. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "swizzle/format.h"

/* Once the clock is known: the rules go into the file. */
void swz_kept_calls_begin(void);

/* A forked child's file has no rules yet, and it keeps no calls. */
void swz_kept_calls_fork(void);

/* True if there is such a rule, and room for what is counted of it. */
bool swz_kept_calls_has(uint8_t rule);

/* A call of the rule is not watched. */
void swz_kept_calls_miss(uint8_t rule);

/* Counts a call that has ended; true if it is slow. */
bool swz_kept_calls_count(uint8_t rule, uint64_t ticks);

/* The slot of an ordinary call that has ended; swz_config.slow_keep: none. All
 * have the same chance. */
uint32_t swz_kept_calls_choose(uint8_t rule, uint64_t ticks);

/* True if a slow call is slower than one that is kept, or there is room. */
bool swz_kept_calls_would_keep(uint8_t rule, uint64_t ticks);

/* The call's chunks stay in the file: instead of those of the least slow one,
 * or of the ordinary one in slot AT. It has none any more. */
void swz_kept_calls_keep(struct swz_watched_call *call, uint8_t rule,
			 enum swz_call_state state, uint64_t ticks,
			 uint32_t at);

/* They may be used again, by any thread. */
void swz_kept_calls_free(struct swz_watched_call *call);

uint64_t swz_kept_calls_next_number(void);

/* A chunk that is empty and of no call yet, in place of a kept call that took
 * less than TICKS if need be; NULL: there is none. On the slow stack. */
struct swz_chunk *swz_kept_calls_take(struct swz_thread *thread,
				      enum swz_chunk_type type, uint64_t ticks);

/* It is the call's latest, which began at START (rdtsc). */
void swz_kept_calls_add(struct swz_watched_call *call, struct swz_chunk *chunk,
			uint64_t start);

/* The same for the call that is open; NULL: there is no room, and nothing more
 * is recorded of this call. On the slow stack. */
struct swz_chunk *swz_kept_calls_chunk(struct swz_thread *thread,
				       enum swz_chunk_type type);

/* A thread's state is used by another thread, or in a forked child. */
static inline void swz_kept_calls_forget(struct swz_thread_cold *cold)
{
	cold->watched = (struct swz_watched_call){.slot = NULL};
}

/* True if nothing is to be recorded of what the thread does now. */
static inline bool swz_kept_calls_pass(const struct swz_thread_cold *cold)
{
	return swz_config.slow && !cold->watched.slot;
}

/* --- calls that are watched ---------------------------------------------- */

/* --slow FUNCTION:TIME. A thread records events only while a call of a watched
 * function is open, the outermost of them, in chunks that belong to this call
 * alone. When it ends, its chunks stay in the profile or are used again
 * (record/kept_calls.h). So a trace takes the same room after a second and
 * after a week.
 *
 * All but swz_watched_calls_begin are async-signal-safe and take no lock. A
 * handler that interrupts one of them and calls a watched function finds the
 * thread amid a call, and its call is counted as not watched. */

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
