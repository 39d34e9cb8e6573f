#ifndef SWZ_RUNTIME_RECORD_KEPT_CALLS_H
#define SWZ_RUNTIME_RECORD_KEPT_CALLS_H

/* The calls whose events stay with --slow: of each rule the slowest, and a
 * random choice of the others, with which they can be compared; and the chunks
 * that calls are recorded in. All are async-signal-safe but for
 * swz_kept_calls_begin, and take no lock. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"

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

#endif
