/* Sums are changed by one instruction each (swap.h): a signal handler may come
 * to the same node. */

#include "runtime/record/activation.h"

#include "runtime/record/context.h"
#include "runtime/record/sampling.h"
#include "runtime/record/swap.h"

static void add_ticks(struct swz_node *node, uint64_t ticks)
{
	swz_add64((uint64_t *)&node->ticks, ticks);
}

void swz_activation_count(struct swz_thread *thread, struct swz_node *node)
{
	swz_add64(&node->calls, 1);
	if (swz_tracing)
		swz_events_add(thread, node, SWZ_EVENT_JUMP, swz_now(thread));
	if (swz_sampling)
		swz_add64(&node->weight, 1);
}

/* As so many activations at once as is its weight. */
static void open_sampled(struct swz_node *node, uint64_t start)
{
	uint64_t weight = swz_start_weight(start);

	if (!swz_start_is_timed(start))
		return;
	add_ticks(node, -(weight * swz_start_time(start)));
	swz_add32(&node->open, (uint32_t)weight << SWZ_NODE_OPEN_SHIFT);
}

static uint64_t open_node(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start)
{
	if (swz_sampling) {
		open_sampled(node, start);
	} else {
		add_ticks(node, -start);
		swz_add32(&node->open, 1u << SWZ_NODE_OPEN_SHIFT);
		if (thread->open[node->function]-- == 0)
			node->outer_ticks -= (int64_t)start;
	}
	return (uint64_t)node->context << 32;
}

/* In the order of asm/x86_64/enter.S. */
uint64_t swz_activation_enter(struct swz_thread *thread, struct swz_node *node,
			      uint64_t start)
{
	swz_add64(&node->calls, 1);
	if (swz_sampling && swz_start_is_timed(start)) {
		swz_add64(&node->weight, swz_start_weight(start));
		swz_add32(&node->timed, node->timed < UINT32_MAX);
	}
	swz_events_add(thread, node, SWZ_EVENT_ENTER, start);
	return open_node(thread, node, start);
}

uint64_t swz_activation_resume(struct swz_thread *thread, struct swz_node *node,
			       uint64_t start)
{
	swz_events_add(thread, node, SWZ_EVENT_RESUME, start);
	return open_node(thread, node, start);
}

/* One of the node's calls, of which so many are accounted there, is a long one.
 */
static bool move_to_long(struct swz_thread *thread, struct swz_node *node,
			 uint64_t weight, uint64_t duration)
{
	struct swz_node *to = swz_long_calls_of(thread, node);

	if (!to)
		return false;
	if (node->calls) { /* it is counted; not so where it has been resumed */
		swz_add64(&node->calls, -UINT64_C(1));
		swz_add64(&to->calls, 1);
	}
	if (weight)
		add_ticks(node, -(weight * duration));
	if (weight && node->timed && node->weight >= weight) { /* likewise */
		swz_add64(&node->weight, -weight);
		swz_add32(&node->timed, -UINT32_C(1));
	}
	swz_add64(&to->weight, 1);
	swz_add32(&to->timed, to->timed < UINT32_MAX);
	add_ticks(to, duration);
	return true;
}

/* Counts a call of an edge that stands for others. Time above a bound counts
 * for itself: among the long calls, if there is room. Returns the part that
 * counts for all. */
static uint64_t bounded(struct swz_thread *thread, struct swz_node *node,
			uint64_t weight, uint64_t duration)
{
	uint64_t above = duration - SWZ_SAMPLE_MOST_TICKS;
	struct swz_node *to;

	if (weight <= 1 || duration <= SWZ_SAMPLE_MOST_TICKS)
		return duration;
	to = swz_long_calls_of(thread, node);
	add_ticks(node, -(weight * above));
	add_ticks(to ? to : node, above);
	return SWZ_SAMPLE_MOST_TICKS;
}

static void leave_sampled(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now)
{
	uint64_t weight = swz_start_is_timed(start) ? swz_start_weight(start)
						    : 0;
	uint64_t time = swz_start_time(start), duration;

	now = swz_start_time(now);
	duration = now > time ? now - time : 0;
	add_ticks(node, weight * now);
	swz_add32(&node->open, -((uint32_t)weight << SWZ_NODE_OPEN_SHIFT));
	if ((swz_sampling_is_long(node, start, duration) ||
	     swz_sampling_is_stray(node, weight, duration)) &&
	    move_to_long(thread, node, weight, duration))
		swz_sampling_ended(node, 1, duration);
	else if (weight)
		swz_sampling_ended(node, weight,
				   bounded(thread, node, weight, duration));
}

void swz_activation_leave(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now, enum swz_event_kind how)
{
	uint64_t duration = now - start;

	if (swz_sampling) {
		leave_sampled(thread, node, start, now);
		return;
	}
	swz_events_add_end(thread, node, how, start, now);
	add_ticks(node, now);
	swz_add32(&node->open, -(1u << SWZ_NODE_OPEN_SHIFT));
	if (++thread->open[node->function] == 0)
		node->outer_ticks += (int64_t)now;
	if (duration > node->max_ticks)
		node->max_ticks = duration;
	if (duration <= node->min_ticks - 1)
		node->min_ticks = duration;
}
