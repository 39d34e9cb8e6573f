#ifndef SWZ_RUNTIME_RECORD_FRAMES_H
#define SWZ_RUNTIME_RECORD_FRAMES_H

/* What the fields of a thunk say of its frame, and whether that is still there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thunks/arena.h"

/* In thunk->pending: the frame's accounts are closed, it only returns yet. */
#define SWZ_CLOSED ((struct swz_thunk *)SWZ_IS_CLOSED)

/* In thunk->pending, behind the records: with sampled timing a call by a jump
 * that is not timed needs no record, if its function is not on the path yet.
 * The latest one's node tells all of them: between it and the frame's own there
 * are only such. */
static inline bool swz_is_jumps(const struct swz_thunk *pending)
{
	return (uintptr_t)pending & SWZ_IS_JUMPS;
}

static inline uint32_t swz_jumps_unit(const struct swz_thunk *pending)
{
	return (uint32_t)((uintptr_t)pending >> SWZ_JUMPS_SHIFT);
}

/* The same without a node: the first frame of a thread, whose end is mostly the
 * thread's. Its exit goes to C, which reads the processor time then. */
#define SWZ_FIRST_FRAME ((struct swz_thunk *)SWZ_IS_JUMPS)

/* In the return_address of a record, which has none: the values of its call are
 * captured, so that its end is to be done in C. Otherwise 0. */
#define SWZ_RECORD_CAPTURED UINT64_C(1)

static inline bool swz_is_record(const struct swz_thunk *pending)
{
	return pending && pending != SWZ_CLOSED && !swz_is_jumps(pending);
}

/* Where a thunk's or a record's `pending` says what comes behind the records.
 */
static inline struct swz_thunk **swz_frame_behind_records(
	struct swz_thunk **pending)
{
	while (swz_is_record(*pending))
		pending = &(*pending)->pending;
	return pending;
}

/* Whether it is SWZ_FIRST_FRAME, behind its records. */
static inline bool swz_is_first_frame(struct swz_thunk *thunk)
{
	return *swz_frame_behind_records(&thunk->pending) == SWZ_FIRST_FRAME;
}

/* The slot of a thunk whose frame is gone, for the next sweep: no address. */
#define SWZ_SLOT_GONE ((uint64_t *)8)

/* In thunk->start_ticks: the frame is suspended with its stack
 * (runtime/hooks/suspend.h); in the low bits what they were
 * (runtime/record/sampling.h). No start is like that: times have their bias. */
#define SWZ_SUSPENDED SWZ_START_STEP
#define SWZ_SUSPENDED_LAST (2 * SWZ_START_STEP - 1)

static inline bool swz_start_is_suspended(uint64_t start)
{
	return start >= SWZ_SUSPENDED && start <= SWZ_SUSPENDED_LAST;
}

/* Takes the latest record from a frame; NULL: none. Who does so ends it and
 * frees it: a signal handler that comes between may switch to another stack,
 * whose frame has the same thunk, and no record may be in two places. So all
 * are taken, and the rest put back: what comes behind a record is known only to
 * who has it. */
static inline struct swz_thunk *swz_frame_pop_record(struct swz_thunk *thunk)
{
	struct swz_thunk *record = __atomic_load_n(&thunk->pending,
						   __ATOMIC_RELAXED);

	while (swz_is_record(record))
		if (__atomic_compare_exchange_n(&thunk->pending, &record, NULL,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			thunk->pending = record->pending;
			return record;
		}
	return NULL;
}

/* Hangs one from it, as the latest. */
static inline void swz_frame_push_record(struct swz_thunk *thunk,
					 struct swz_thunk *record)
{
	record->pending = __atomic_load_n(&thunk->pending, __ATOMIC_RELAXED);
	while (record->pending != SWZ_CLOSED &&
	       !__atomic_compare_exchange_n(&thunk->pending, &record->pending,
					    record, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/* Words of a stack from a place on, up to the end of its page, by way of the
 * kernel: what lies there may be nothing that the program has written (memcheck
 * minds who looks at that), or no memory. Returns how many; 0: none can be
 * read.
 */
#define SWZ_PAGE_WORDS 512u
unsigned swz_stack_words(const uint64_t *from, uint64_t words[SWZ_PAGE_WORDS]);

/* One bit for each thunk of a block: whether it is live and its frame may still
 * be there, which is so as long as its return slot holds its address T, or,
 * where it may be at its entry or exit, the real return address. IN_USE: where
 * the part of the calling thread's stack begins that is in use, or NULL. What
 * is elsewhere may be gone, or protected, and is read by way of the kernel.
 * CLOSED_TOO: a thunk that is closed may be at its entry or exit, too. */
uint64_t swz_block_alive(uint32_t block, const uint64_t *in_use,
			 bool closed_too);

#endif
