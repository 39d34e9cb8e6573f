#ifndef SWZ_RUNTIME_RECORD_COUNTS_H
#define SWZ_RUNTIME_RECORD_COUNTS_H

/* -m count: the tables of counters that the code of thunks/counting.h looks in.
 * All are for the calling thread. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"
#include "swizzle/format.h"

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

/* --- how many calls took how long ---------------------------------------- */

/* --percentiles: how long the calls of some functions took, by buckets.
 *
 * A node of such a function is marked: its min_ticks is negative, so the exit
 * hooks find each call to be the shortest and leave their usual path, where no
 * instruction is added. From there (asm/x86_64/macros.h, ADD_TIME) they note
 * the call in the thread's chunk TIMES. When that is full its calls are
 * counted: thread->histograms has a unit for each function, that of the chunk
 * HISTOGRAM_INDEX, which has a unit for each octave, that of a chunk HISTOGRAM
 * with 64 counters. All are in the profile, so a kill loses nothing.
 *
 * A counter's address depends on the time that rdtsc has just told, and on
 * loads that depend on each other; the next rdtsc waits for all of them. The
 * place of a note is known before. Notes are counted later at the rate at which
 * the processor can do it, many at once. */

/* True if calls of the function with this id are to be counted so. Pure. */
bool swz_histogram_is_wanted(uint32_t function);

/* The thread's first chunks: where calls count for which there is no room
 * later. Signals must be blocked, or nothing of the program run. False: there
 * is no room for these either. */
bool swz_histograms_begin(struct swz_thread *thread);

/* The state of a thread that has none of these: the hooks come to C. */
void swz_histograms_disarm(struct swz_thread *thread);

/* For the hooks: counts a call, as it is noted (SWZ_TIME_PENDING), whose place
 * is not free. Async-signal-safe. */
void swz_histogram_pass(struct swz_thread *thread, uint64_t noted);

/* Counts a call of a marked node that has taken so many ticks.
 * Async-signal-safe. */
void swz_histogram_add(struct swz_thread *thread, struct swz_node *node,
		       uint64_t ticks);

#endif
