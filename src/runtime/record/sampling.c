#include "runtime/record/sampling.h"

#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"

/* A timed call that is short counts one, a long one much less than nothing. At
 * so many points the weight becomes four times as large, or, at less than so
 * many, a fourth. So it is large where not more than one call in ten is long;
 * but a recursion, which comes back out of many long ones in a row, changes
 * little.
 */
#define SCORE_OF_LEVEL SWZ_SCORE_OF_LEVEL
#define LEAST_SCORE (-64)
#define LONG_SCORE 8
#define LONG_TICKS SWZ_LONG_TICKS
/* At most one in so many timed calls of an edge is long by chance. */
#define STRAY_SHARE 1024u
/* More than this part of the estimate is too much for one of them. */
#define STRAY_PART 8
/* Frames above a timed call, at most, that get to know of it. */
#define MOST_SEEN 65536u
/* `skip` of a node out of which the hook has just taken the last (0 - 1). */
#define DUE UINT8_MAX

_Static_assert(2 * SWZ_MOST_WEIGHT - 2 < DUE, "skip");
_Static_assert(SCORE_OF_LEVEL - SWZ_MOST_TIMED >= INT8_MIN, "score");

bool swz_sampling;

void swz_hook_exit_sampled(void);
void swz_hook_exit_following_sampled(void);

void swz_sampling_begin(void)
{
	swz_sampling = true;
	swz_arena_set_exit(swz_hook_exit_sampled,
			   swz_hook_exit_following_sampled);
	swz_file->flags |= SWZ_FILE_SAMPLED;
}

static uint32_t draw(struct swz_thread_cold *cold)
{
	cold->random = cold->random * SWZ_RANDOM_MULTIPLIER + 1;
	return (uint32_t)(cold->random >> 32);
}

static unsigned level_of(const struct swz_node *node)
{
	return (node->open & SWZ_NODE_LEVEL) >> SWZ_LEVEL_SHIFT;
}

static void set_level(struct swz_node *node, unsigned level)
{
	node->open = (node->open & ~(uint32_t)SWZ_NODE_LEVEL) |
		     level << SWZ_LEVEL_SHIFT;
	node->score = 0;
}

/* How many calls pass between two that are timed: from 0 to twice the mean,
 * which is the weight less one. */
static uint8_t draw_gap(struct swz_thread_cold *cold, unsigned level)
{
	uint64_t range = 2 * ((uint64_t)1 << 2 * level) - 1;

	return level ? (uint8_t)(draw(cold) * range >> 32) : 0;
}

uint64_t swz_sampling_decide(struct swz_thread *thread, struct swz_node *node)
{
	unsigned level = level_of(node), next = level;

	/* one that has come here for another reason */
	if (node->skip != 0 && node->skip != DUE) {
		node->skip--;
		return SWZ_START_UNTIMED | SWZ_START_UNSEEN;
	}
	if (node->score < SCORE_OF_LEVEL)
		node->score++;
	else if (level < SWZ_START_LEVEL)
		set_level(node, ++next);
	node->skip = draw_gap(thread->cold, next);
	return level | SWZ_START_UNSEEN;
}

/* The order of starts stays: it tells stale links. */
bool swz_sampling_see(uint64_t *start, uint64_t now)
{
	uint64_t bits = *start & (SWZ_START_STEP - 1) &
			~(uint64_t)SWZ_START_UNSEEN;
	uint64_t time = swz_start_time(*start);

	if (!(*start & SWZ_START_UNSEEN) || swz_start_is_suspended(*start))
		return false;
	if (bits & SWZ_START_UNTIMED && time < swz_start_time(now))
		time = swz_start_time(now);
	*start = time | bits;
	return true;
}

void swz_sampling_see_callers(struct swz_thunk *frame, uint64_t start)
{
	uint64_t now = swz_start_time(start);
	bool seen = false;

	for (unsigned i = 0;
	     frame && frame != &swz_bottom && !seen && i < MOST_SEEN; i++) {
		struct swz_thunk *p = frame->pending;
		unsigned passed = 0;

		now -= SWZ_START_STEP;
		if (p == SWZ_CLOSED)
			break;
		for (; swz_is_record(p); p = swz_record_next(p, &passed))
			swz_sampling_see(&p->start_ticks, now);
		/* one that is timed tells those above when it ends */
		seen = swz_start_is_timed(frame->start_ticks);
		seen |= !swz_sampling_see(&frame->start_ticks, now);
		frame = frame->link;
	}
}

bool swz_sampling_is_stray(struct swz_node *node, uint64_t weight,
			   uint64_t duration)
{
	if (weight <= 1 || duration < LONG_TICKS)
		return false;
	if (node->long_ones < UINT16_MAX)
		node->long_ones++;
	if ((node->long_ones - 1u) * STRAY_SHARE >= node->timed)
		return false;
	/* what is open is not among the ticks as a time */
	return node->open >> SWZ_NODE_OPEN_SHIFT || node->ticks <= 0 ||
	       weight * duration > (uint64_t)node->ticks / STRAY_PART;
}

void swz_sampling_ended(struct swz_node *node, uint64_t weight,
			uint64_t duration)
{
	uint64_t square;

	if (__builtin_mul_overflow(duration, duration, &square) ||
	    __builtin_mul_overflow(square >> 4, weight * (weight - 1),
				   &square) ||
	    __builtin_add_overflow(node->squares, square, &node->squares))
		node->squares = UINT64_MAX;
	if (duration < LONG_TICKS || swz_sampling_stays(node))
		return;
	if (node->score > LEAST_SCORE) {
		node->score = (int8_t)(node->score - LONG_SCORE);
	} else if (level_of(node)) {
		set_level(node, level_of(node) - 1);
		node->skip = 0;
	}
}

void swz_sampling_set(struct swz_node *node, unsigned timed)
{
	set_level(node, 0);
	if (timed)
		node->score = (int8_t)(SCORE_OF_LEVEL - (int)timed);
	node->skip = timed ? 0 : DUE - 1;
}
