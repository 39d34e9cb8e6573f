#ifndef SWZ_RUNTIME_RECORD_HISTOGRAMS_H
#define SWZ_RUNTIME_RECORD_HISTOGRAMS_H

/* --percentiles: how long the calls of some functions took, by buckets.
 *
 * A node of such a function is marked: its min_ticks is negative, so the exit
 * hooks find each call to be the shortest and leave their usual path, where no
 * instruction is added. From there (asm/x86_64/macros.h, ADD_TIME) they count
 * the call: thread->histograms has a unit for each function, that of the chunk
 * HISTOGRAM_INDEX, which has a unit for each octave, that of a chunk HISTOGRAM
 * with 64 counters. All are in the profile, so a kill loses nothing. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "runtime/record/thread.h"

/* True if calls of the function with this id are to be counted so. Pure. */
bool swz_histogram_is_wanted(uint32_t function);

/* The thread's first chunks: where calls count for which there is no room
 * later. Signals must be blocked, or nothing of the program run. False: there
 * is no room for these either. */
bool swz_histograms_begin(struct swz_thread *thread);

/* For the hooks: counts a call of the function in the upper half of WHERE, in
 * the bucket of its lower half, which has no counter yet. Async-signal-safe. */
void swz_histogram_make(struct swz_thread *thread, uint64_t where);

/* Counts a call of a marked node that has taken so many ticks.
 * Async-signal-safe. */
void swz_histogram_add(struct swz_thread *thread, struct swz_node *node,
		       uint64_t ticks);

#endif
