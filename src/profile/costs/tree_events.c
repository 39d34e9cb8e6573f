/* An activation's ticks are those between its begin and its end, clamped to the
 * range; a call counts where it begins. Of a function only the outermost
 * activations go into outer_ticks. */

#include "profile/costs/tree_events.h"

#include <stdlib.h>
#include <string.h>

#include "profile/costs/untraced.h"
#include "profile/file/events.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

#define PROGRESS_BYTES ((uint64_t)1 << 20)

struct activation {
	uint32_t node; /* index; SWZ_INDEX_NONE: not in the tree */
	bool outermost;
	bool cut;      /* its begin is */
	bool untraced; /* the time of which there are no events */
	uint64_t start;
};

struct taking {
	struct swz_tree *tree;
	const struct swz_unit_index *units;
	uint32_t *open; /* by function of the profile: its activations */
	struct activation *stack;
	size_t depth, capacity;
	/* nodes come again and again */
	struct {
		uint32_t unit, node;
	} cache[1024];
};

static void clear(struct swz_tree *tree, uint64_t total)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		struct swz_tree_node *node = &tree->nodes[i];

		node->calls = node->unwound = node->timed = 0;
		node->ticks = node->outer_ticks = 0;
		node->min_ticks = node->max_ticks = 0;
		node->variance = 0;
		node->uncounted = false;
	}
	tree->nodes[SWZ_TREE_ROOT].ticks = (int64_t)total;
	tree->nodes[SWZ_TREE_ROOT].outer_ticks = (int64_t)total;
	tree->repaired_nodes = 0;
}

static uint32_t find(struct taking *taking, uint32_t unit)
{
	size_t at = unit % (sizeof(taking->cache) / sizeof(*taking->cache));

	if (taking->cache[at].unit != unit || !unit) {
		taking->cache[at].unit = unit;
		taking->cache[at].node = swz_unit_index(taking->units, unit);
	}
	return taking->cache[at].node;
}

static void begin(struct taking *taking, const struct swz_event *event)
{
	struct activation *activation;
	struct swz_tree_node *node;

	swz_grow(&taking->stack, &taking->capacity, taking->depth,
		 sizeof(*taking->stack));
	activation = &taking->stack[taking->depth++];
	*activation = (struct activation){
		.node = event->untraced ? SWZ_INDEX_NONE
					: find(taking, event->node),
		.cut = event->cut,
		.untraced = event->untraced,
		.start = event->ticks,
	};
	if (activation->node == SWZ_INDEX_NONE)
		return;
	node = &taking->tree->nodes[activation->node];
	if (!event->cut && event->how != SWZ_EVENT_RESUME)
		node->calls++;
	else
		node->uncounted = true;
	/* (a function that is not known has no recursion, either) */
	activation->outermost = node->function == SWZ_INDEX_NONE ||
				taking->open[node->function]++ == 0;
}

static void end(struct taking *taking, const struct swz_event *event)
{
	struct activation *activation;
	struct swz_tree_node *node;
	int64_t ticks;

	if (!taking->depth)
		return;
	activation = &taking->stack[--taking->depth];
	ticks = (int64_t)(event->ticks - activation->start);
	if (activation->untraced)
		taking->tree->untraced_ticks = swz_add(
			taking->tree->untraced_ticks, ticks);
	if (activation->node == SWZ_INDEX_NONE)
		return;
	node = &taking->tree->nodes[activation->node];
	if (node->function != SWZ_INDEX_NONE)
		taking->open[node->function]--;
	node->ticks += ticks;
	if (activation->outermost)
		node->outer_ticks += ticks;
	if (event->how == SWZ_EVENT_UNWIND)
		node->unwound++;
	/* how long it took in all is not known */
	if (event->cut || activation->cut)
		return;
	if (ticks > node->max_ticks)
		node->max_ticks = ticks;
	if (!node->min_ticks || ticks < node->min_ticks)
		node->min_ticks = ticks;
}

/* By the share of that time that is in the range. */
static void cost_untraced(struct swz_tree *tree,
			  const struct swz_profile *profile,
			  const struct swz_profile_thread *thread)
{
	struct swz_untraced all = swz_untraced(profile, thread);

	tree->untraced_calls = (uint64_t)swz_scale(
		tree->untraced_ticks, all.calls, (uint64_t)all.ticks);
	tree->untraced_own = swz_scale(tree->untraced_ticks,
				       (uint64_t)all.own_ticks,
				       (uint64_t)all.ticks);
}

void swz_tree_take_events(struct swz_tree *tree,
			  const struct swz_unit_index *units,
			  const struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  const struct swz_range *range)
{
	struct swz_events *events = swz_events_open(profile, thread);
	struct taking *taking = swz_allocate(1, sizeof(*taking));
	uint64_t from = thread->record.start_ticks, to = thread->last_ticks;
	struct swz_event event;
	uint64_t shown = 0;

	if (range->from > from)
		from = range->from;
	if (range->to < to)
		to = range->to;
	tree->absent = to <= from;
	clear(tree, to > from ? to - from : 0);
	taking->tree = tree;
	taking->units = units;
	taking->open = swz_allocate(profile->function_count + 1,
				    sizeof(*taking->open));
	swz_events_show_hidden(events);
	swz_events_limit(events, range->from, range->to);
	while (swz_events_next(events, &event)) {
		if (event.begins)
			begin(taking, &event);
		else
			end(taking, &event);
		if (swz_events_position(events) - shown >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(events) - shown);
			shown = swz_events_position(events);
		}
	}
	swz_progress_add(swz_events_size(thread) - shown);
	swz_events_close(events);
	if (tree->untraced_ticks)
		cost_untraced(tree, profile, thread);
	free(taking->open);
	free(taking->stack);
	free(taking);
}
