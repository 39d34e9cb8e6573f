#ifndef SWZ_RUNTIME_RECORD_COUNTS_H
#define SWZ_RUNTIME_RECORD_COUNTS_H

/* -m count: the tables of counters that the code of thunks/counting.h looks in.
 * All are for the calling thread. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Its first table in the profile. AT_LEAST: a mask that code may have loaded
 * before (swz_count_place.mask), and with which it goes on in a forked child; 0
 * if not. Signals must be blocked. False: there is no room. */
bool swz_counts_begin(struct swz_thread *thread, uint64_t at_least);

/* The difference between the key of a function's edge and its call site. */
uint64_t swz_count_factor_of(uint32_t id);

/* The slot with this key, or NULL: in the latest table there is none. */
struct swz_count_slot *swz_counts_find(uint64_t key);

/* Makes it, with no calls, and a larger table if need be. NULL: there is no
 * room. COLD is the thread's, which has none any more where a handler has
 * forked meanwhile. Async-signal-safe, as is the rest. */
struct swz_count_slot *swz_counts_make(struct swz_thread *thread,
				       struct swz_thread_cold *cold,
				       uint64_t key, uint32_t id);

/* A call was counted there that the hooks' code has not found. */
void swz_counts_spread(struct swz_thread *thread,
		       const struct swz_thread_cold *cold,
		       const struct swz_count_slot *slot);

/* From now on nothing is found in the table; until swz_counts_resume(). False
 * if memory is refused. */
bool swz_counts_pause(void);
void swz_counts_resume(const struct swz_thread *thread);

#endif
