/* Between two events of a thread one context is current: what of that time the
 * thread did not run is that context's waiting. */

#include "profile/costs/tree_switches.h"

#include <stdlib.h>

#include "profile/file/events.h"
#include "profile/file/switches.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE

struct walk {
	struct swz_tree *tree;
	const struct swz_unit_index *units;
	struct swz_switch_reader switches;
	uint32_t *stack; /* contexts; NONE: not in the tree */
	size_t depth, capacity;
	uint64_t now;
};

static uint32_t context_of(const struct walk *walk,
			   const struct swz_event *event)
{
	const struct swz_tree *tree = walk->tree;
	uint32_t node = event->untraced
				? (uint32_t)tree->count - 1
				: swz_unit_index(walk->units, event->node);

	if (node == NONE)
		return NONE;
	/* (only a tree of a range has a context for it) */
	if (event->untraced && tree->nodes[node].id != SWZ_FUNCTION_UNTRACED)
		return NONE;
	return tree->nodes[node].context;
}

/* Until TICKS the context was that of the stack's top. */
static void go_to(struct walk *walk, uint64_t ticks)
{
	uint32_t context = walk->depth ? walk->stack[walk->depth - 1]
				       : SWZ_TREE_ROOT;
	struct swz_off_time off;

	while (swz_switches_next(&walk->switches, walk->now, ticks, &off))
		if (context != NONE)
			walk->tree->nodes[context].waiting = swz_add(
				walk->tree->nodes[context].waiting,
				(int64_t)(off.to - off.from));
	if (ticks > walk->now)
		walk->now = ticks;
}

static void take(struct walk *walk, const struct swz_event *event)
{
	go_to(walk, event->ticks);
	if (event->begins) {
		swz_grow(&walk->stack, &walk->capacity, walk->depth,
			 sizeof(*walk->stack));
		walk->stack[walk->depth++] = context_of(walk, event);
	} else if (walk->depth) {
		walk->depth--;
	}
}

void swz_tree_take_switches(struct swz_tree *tree,
			    const struct swz_unit_index *units,
			    const struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    const struct swz_range *range)
{
	struct walk walk = {.tree = tree, .units = units};
	uint64_t from = thread->record.start_ticks, to = thread->last_ticks;
	struct swz_events *events;
	struct swz_event event;

	if (!thread->record.switches_from)
		return;
	tree->knows_waiting = true;
	tree->missing_switches = swz_switches_missing(thread);
	if (range && range->from > from)
		from = range->from;
	if (range && range->to < to)
		to = range->to;
	if (to <= from || !thread->switch_count)
		return;
	walk.now = from;
	swz_switches_open(&walk.switches, thread);
	events = swz_events_open(profile, thread);
	swz_events_show_hidden(events);
	swz_events_limit(events, from, to);
	while (swz_events_next(events, &event))
		take(&walk, &event);
	walk.depth = 0;
	go_to(&walk, to);
	swz_events_close(events);
	free(walk.stack);
}
