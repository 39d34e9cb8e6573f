#ifndef SWZ_RUNTIME_RECORD_SAMPLING_H
#define SWZ_RUNTIME_RECORD_SAMPLING_H

/* Chooses the calls that are timed, with --timing sampled. All are counted.
 *
 * Each call edge has a weight: of its calls one in so many is timed on average,
 * and stands for them. At first it is 1; where calls are short it grows
 * to 4, 16 and 64; long calls, beside which the clock is nothing, make it
 * smaller again. After a call that was timed, the number of calls that pass
 * before the next one is drawn, so that it cannot fall into step with what the
 * program does. What decides of a call is known before it begins, so the
 * weighted sum is an unbiased estimate (Horvitz and Thompson, "A generalization
 * of sampling without replacement from a finite universe", 1952).
 *
 * The level (log4 of the weight) is in the low bits of an activation's start
 * (swz_thunk.start_ticks; SWZ_START_* in asm/x86_64/offsets.h), which then is a
 * multiple of SWZ_START_STEP otherwise. One that is not timed has a start too,
 * which is not a time, but is later than that of the frame above.
 *
 * An edge may have a million short calls and one that lasts as long as the
 * program (an interpreter's, which calls itself): an estimate from one in 64 of
 * these would be worth nothing. So each long call counts for itself alone, in a
 * node of its own (SWZ_CALL_SITE_LONG). Long calls make other calls, of which
 * some are timed: with the first of these an activation that is not timed gets
 * its time as start, and is no longer SWZ_START_UNSEEN. A long call in which
 * none was timed is sampled as short ones are, but what it takes above a bound
 * counts for itself.
 *
 * Nor is a call long by nature that an interrupt came in, or in which the
 * thread had to wait for a processor: such a stray one would count 64 times. Of
 * an edge whose calls are short one in tens of thousands is, so the first of a
 * thousand counts for itself, too, unless the estimate has so much in it
 * already that it makes no difference.
 *
 * In a deep recursion every call is long, as most of it are the calls in it.
 * Where it is folded, an edge leads from a context to itself, and its time is
 * that context's and its callee's at once: none of either is lost or won by how
 * exact it is. So such calls are sampled as if they were short.
 *
 * Where two functions call each other and that is folded, the self time of each
 * is the difference of two sums over all depths, each a thousand times as
 * large. So there calls count for themselves alone from SWZ_LONG_TICKS on. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

#define SWZ_MOST_WEIGHT (1u << 2 * SWZ_START_LEVEL)

extern bool swz_sampling;

static inline bool swz_start_is_timed(uint64_t start)
{
	return !swz_sampling || !(start & SWZ_START_UNTIMED);
}

static inline uint64_t swz_start_weight(uint64_t start)
{
	return (uint64_t)1 << 2 * (start & SWZ_START_LEVEL);
}

/* The time in it, and any time, as sums of a sampled node have it. */
static inline uint64_t swz_start_time(uint64_t start)
{
	return start & -(uint64_t)SWZ_START_STEP;
}

/* A start at a time, with the low bits that another one has. */
static inline uint64_t swz_start_like(uint64_t bits, uint64_t now)
{
	return swz_sampling
		       ? swz_start_time(now) | (bits & (SWZ_START_STEP - 1))
		       : now;
}

/* Before anything is planned, and before the first thread begins. */
void swz_sampling_begin(void);

/* A call of the edge begins: returns the low bits of its start. */
uint64_t swz_sampling_decide(struct swz_thread *thread, struct swz_node *node);

/* A timed call that this activation has made began at `now`. Returns whether it
 * is the first. */
bool swz_sampling_see(uint64_t *start, uint64_t now);

/* One has ended that began then: the same for the frame that has made it, and
 * those above. */
void swz_sampling_see_callers(struct swz_thunk *frame, uint64_t start);

/* Upper bound of what a call in which none was timed may count for others: a
 * millisecond or so. */
#define SWZ_SAMPLE_MOST_TICKS (UINT64_C(20) * SWZ_ALONE_TICKS)

/* True if the edge leads from a context to itself: a recursion that is folded.
 * What its calls take is in that context whatever they are timed as. */
static inline bool swz_sampling_stays(const struct swz_node *node)
{
	return node->parent == node->context;
}

/* True if one that has ended counts for itself alone. */
static inline bool swz_sampling_is_long(const struct swz_node *node,
					uint64_t start, uint64_t duration)
{
	uint64_t least = node->open & SWZ_NODE_CYCLE ? SWZ_LONG_TICKS
						     : SWZ_ALONE_TICKS;

	return duration >= least && !(start & SWZ_START_UNSEEN) &&
	       !swz_sampling_stays(node);
}

/* True if one does that is timed, stands for so many, and is among the node's
 * ticks already. To be asked once for each. */
bool swz_sampling_is_stray(struct swz_node *node, uint64_t weight,
			   uint64_t duration);

/* A timed one has ended. */
void swz_sampling_ended(struct swz_node *node, uint64_t weight,
			uint64_t duration);

/* The next calls of the edge: so many are timed, all of them; or none for a
 * while. For calibration. */
#define SWZ_MOST_TIMED 128
void swz_sampling_set(struct swz_node *node, unsigned timed);

#endif
