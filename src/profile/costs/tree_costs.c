/* The costs of a tree's nodes. In a range of time, and for waiting, they come
 * from events instead of nodes: from begins and ends of calls, and from context
 * switches. Self times and sums over subtrees follow from them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_bucket.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/names/debug_info.h"

/* --- waiting by context switches ----------------------------------------- */

/* Between two events of a thread one context is current: what of that time the
 * thread did not run is that context's waiting. */

#define NONE SWZ_INDEX_NONE

struct waiting_walk {
	struct swz_tree *tree;
	const struct swz_unit_index *units;
	struct swz_switch_reader switches;
	uint32_t *stack; /* contexts; NONE: not in the tree */
	size_t depth, capacity;
	uint64_t now;
};

static uint32_t context_of(const struct waiting_walk *waiting_walk,
			   const struct swz_event *event)
{
	const struct swz_tree *tree = waiting_walk->tree;
	uint32_t node = event->untraced ? (uint32_t)tree->count - 1
					: swz_unit_index(waiting_walk->units,
							 event->node);

	if (node == NONE)
		return NONE;
	/* (only a tree of a range has a context for it) */
	if (event->untraced && tree->nodes[node].id != SWZ_FUNCTION_UNTRACED)
		return NONE;
	return tree->nodes[node].context;
}

/* Until TICKS the context was that of the stack's top. */
static void go_to(struct waiting_walk *waiting_walk, uint64_t ticks)
{
	uint32_t context =
		waiting_walk->depth
			? waiting_walk->stack[waiting_walk->depth - 1]
			: SWZ_TREE_ROOT;
	struct swz_off_time off;

	while (swz_switches_next(&waiting_walk->switches, waiting_walk->now,
				 ticks, &off))
		if (context != NONE)
			waiting_walk->tree->nodes[context].waiting = swz_add(
				waiting_walk->tree->nodes[context].waiting,
				(int64_t)(off.to - off.from));
	if (ticks > waiting_walk->now)
		waiting_walk->now = ticks;
}

static void take(struct waiting_walk *waiting_walk,
		 const struct swz_event *event)
{
	go_to(waiting_walk, event->ticks);
	if (event->begins) {
		swz_grow(&waiting_walk->stack, &waiting_walk->capacity,
			 waiting_walk->depth, sizeof(*waiting_walk->stack));
		waiting_walk->stack[waiting_walk->depth++] = context_of(
			waiting_walk, event);
	} else if (waiting_walk->depth) {
		waiting_walk->depth--;
	}
}

void swz_tree_take_switches(struct swz_tree *tree,
			    const struct swz_unit_index *units,
			    const struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    const struct swz_range *range)
{
	struct waiting_walk waiting_walk = {.tree = tree, .units = units};
	uint64_t from = thread->record.start_ticks, to = thread->last_ticks;
	struct swz_events *events;
	struct swz_event event;

	if (range && range->from > from)
		from = range->from;
	if (range && range->to < to)
		to = range->to;
	/* with --slow there are those of kept calls only */
	if (profile->header.flags & SWZ_FILE_SLOW)
		return;
	tree->unseen_switches = thread->record.switches_from &&
				!swz_switches_tell(thread, from, to);
	if (!swz_switches_tell(thread, from, to))
		return;
	tree->knows_waiting = true;
	tree->missing_switches = swz_switches_missing(thread);
	if (to <= from || !thread->switch_count)
		return;
	waiting_walk.now = from;
	swz_switches_open(&waiting_walk.switches, thread);
	events = swz_events_open(profile, thread);
	swz_events_show_hidden(events);
	swz_events_limit(events, from, to);
	while (swz_events_next(events, &event))
		take(&waiting_walk, &event);
	waiting_walk.depth = 0;
	go_to(&waiting_walk, to);
	swz_events_close(events);
	free(waiting_walk.stack);
}

/* ---- looks from outside ---- */

/* The thread may have waited after the last reading of its processor time: no
 * more than it was seen to. */
static void take_times(struct swz_tree *tree, const struct swz_profile *profile,
		       const struct swz_profile_thread *thread)
{
	struct swz_thread_times times = swz_thread_times(profile, thread);
	int64_t ns = times.waiting_ns, most = swz_add(ns, times.unknown_ns);
	int64_t seen = swz_signed(tree->waited_ns);

	tree->read_waiting_ns = ns;
	tree->unread_ns = times.known ? times.unknown_ns : times.wall_ns;
	if (!times.known || !times.wall_ns)
		return;
	if (seen > ns)
		ns = seen < most ? seen : most;
	tree->waiting_ticks = swz_scale(
		(int64_t)(thread->last_ticks - thread->record.start_ticks),
		(uint64_t)ns, (uint64_t)times.wall_ns);
}

void swz_tree_take_looks(struct swz_tree *tree,
			 const struct swz_unit_index *units,
			 const struct swz_profile *profile,
			 const struct swz_profile_thread *thread)
{
	size_t i;

	for (i = 0; i < profile->look_count; i++) {
		const struct swz_profile_look *look = &profile->looks[i];
		uint32_t index = look->node == thread->record.root
					 ? SWZ_TREE_ROOT
					 : swz_unit_index(units, look->node);
		struct swz_tree_node *node;

		if (index == NONE || tree->nodes[index].context == NONE)
			continue;
		tree->looked = true;
		node = &tree->nodes[tree->nodes[index].context];
		if (look->kind == SWZ_LOOK_RAN) {
			node->seen_running = swz_add_count(node->seen_running,
							   look->ns);
			continue;
		}
		node->seen_waiting = swz_add_count(node->seen_waiting,
						   look->ns);
		if (look->kind == SWZ_LOOK_BLOCKED)
			node->blocked = swz_add(node->blocked,
						swz_scale(swz_signed(look->ns),
							  profile->clock_ticks,
							  profile->clock_ns));
		if (tree->merged)
			node->waiting = swz_signed(node->seen_waiting);
		tree->waited_ns = swz_add_count(tree->waited_ns, look->ns);
	}
	if (tree->merged)
		tree->knows_waiting = tree->looked;
	else
		take_times(tree, profile, thread);
}

/* A share of the processor time, hooks included. */
#define LEAST_RUNNING 50

/* Looks of that many ns say little. */
#define FEW_NS 1e7

/* The part of a context's time that it ran, by looks; SHARE is that of all of
 * them. */
static double running_share(const struct swz_tree_node *node, double share)
{
	double ran = (double)node->seen_running;
	double seen = ran + (double)node->seen_waiting;

	return (ran + share * FEW_NS) / (seen + FEW_NS);
}

/* How long a context ran, of the time in which it may have; shares are too
 * small by FACTOR. */
static double running_time(const struct swz_tree_node *node, double share,
			   double factor)
{
	double unsure = fmax(0, (double)node->self - (double)node->blocked);

	return unsure * fmin(1, factor * running_share(node, share));
}

static double sum_running(const struct swz_tree *tree, double share,
			  double factor)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < tree->context_count; i++)
		sum += running_time(&tree->nodes[tree->contexts[i]], share,
				    factor);
	return sum;
}

/* By how much the shares are too small. Mostly so, as the one who looks may
 * have taken the processor from the thread that it looks at. No context runs
 * for longer than it is there without being blocked. */
static double find_factor(const struct swz_tree *tree, double share,
			  double running)
{
	double low = 0, high = 1;
	unsigned i;

	while (high < 1e9 && sum_running(tree, share, high) < running)
		high *= 2;
	for (i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (sum_running(tree, share, middle) < running)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The looks say where it waited, roughly; how long it waited in all is known,
 * and how long each context was there. */
void swz_tree_place_waiting(struct swz_tree *tree)
{
	double share, factor, sum = 0;
	int64_t all = 0, done = 0, least;
	size_t i;

	if (!tree->looked || tree->knows_waiting)
		return;
	tree->knows_waiting = true;
	for (i = 0; i < tree->context_count; i++)
		all = swz_add(all, tree->nodes[tree->contexts[i]].self);
	/* nothing runs for no time, whatever hooks are said to have cost */
	least = (tree->nodes[SWZ_TREE_ROOT].ticks - tree->waiting_ticks) /
		LEAST_RUNNING;
	if (tree->waiting_ticks > all - least)
		tree->waiting_ticks = all > least ? all - least : 0;
	if (!all)
		return;
	share = 1 - (double)tree->waiting_ticks / (double)all;
	factor = find_factor(tree, share, share * (double)all);
	for (i = 0; i < tree->context_count; i++) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		int64_t part;

		sum += (double)node->self - running_time(node, share, factor);
		part = sum < (double)tree->waiting_ticks ? (int64_t)sum
							 : tree->waiting_ticks;
		node->waiting = part - done < node->self ? part - done
							 : node->self;
		done += node->waiting;
	}
}

/* --- what a trace does not hold ------------------------------------------ */

static bool is_own_work(const struct swz_profile *profile, uint32_t unit)
{
	return swz_profile_node(profile, unit)->function ==
	       SWZ_FUNCTION_OURSELVES;
}

static void add_nodes(struct swz_untraced *untraced,
		      const struct swz_profile *profile,
		      const struct swz_profile_thread *thread)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			uint32_t unit = thread->spans[i].unit + j;
			const struct swz_node *node = swz_profile_node(profile,
								       unit);

			if (node->function == SWZ_FUNCTION_NONE)
				continue;
			untraced->calls = swz_add_count(untraced->calls,
							node->calls);
			if (is_own_work(profile, unit) && node->ticks > 0)
				untraced->own_ticks = swz_add(
					untraced->own_ticks, node->ticks);
		}
}

/* (work of ours is not nested) */
static void take_events(struct swz_untraced *untraced,
			const struct swz_profile *profile,
			const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_events_open(profile, thread);
	uint64_t calls = thread->record.short_calls, since = 0;
	struct swz_event event;
	int64_t own = 0;

	swz_events_show_hidden(events);
	while (swz_events_next(events, &event)) {
		if (event.untraced)
			continue;
		if (event.begins && !event.cut && event.how != SWZ_EVENT_RESUME)
			calls = swz_add_count(calls, 1);
		if (!is_own_work(profile, event.node))
			continue;
		if (event.begins)
			since = event.ticks;
		else
			own = swz_add(own, (int64_t)(event.ticks - since));
	}
	swz_events_close(events);
	untraced->calls -= calls < untraced->calls ? calls : untraced->calls;
	untraced->own_ticks -= own < untraced->own_ticks ? own
							 : untraced->own_ticks;
}

struct swz_untraced swz_untraced(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = swz_event_extent(profile, thread);
	struct swz_untraced untraced = {
		.ticks = (int64_t)(extent.from - thread->record.start_ticks +
				   thread->last_ticks - extent.to),
	};

	if (!untraced.ticks)
		return untraced;
	add_nodes(&untraced, profile, thread);
	take_events(&untraced, profile, thread);
	if (untraced.own_ticks > untraced.ticks)
		untraced.own_ticks = untraced.ticks;
	return untraced;
}

/* --- costs by events ----------------------------------------------------- */

/* An activation's ticks are those between its begin and its end, clamped to the
 * range; a call counts where it begins. Of a function only the outermost
 * activations go into outer_ticks. */

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
	/* By function: whether the times of its calls are counted; and where in
	 * tree->times those of a function and bucket are. */
	bool *has_times;
	struct swz_map times_index;
	size_t times_capacity;
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

/* Those of the file are of another time. */
static void clear_times(struct taking *taking, size_t functions)
{
	struct swz_tree *tree = taking->tree;
	size_t i;

	taking->has_times = swz_allocate(functions + 1,
					 sizeof(*taking->has_times));
	for (i = 0; i < tree->times_count; i++)
		if (tree->times[i].function < functions)
			taking->has_times[tree->times[i].function] = true;
	free(tree->times);
	tree->times = NULL;
	tree->times_count = 0;
}

static void count_time(struct taking *taking, uint32_t function, int64_t ticks)
{
	struct swz_tree *tree = taking->tree;
	uint32_t bucket = swz_time_bucket(ticks > 0 ? (uint64_t)ticks : 0);
	uint32_t *found;

	if (function == SWZ_INDEX_NONE || !taking->has_times[function])
		return;
	found = swz_map_at(&taking->times_index, function, bucket);
	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)tree->times_count;
		swz_grow(&tree->times, &taking->times_capacity,
			 tree->times_count, sizeof(*tree->times));
		tree->times[tree->times_count++] = (struct swz_tree_times){
			.function = function, .bucket = bucket};
	}
	tree->times[*found].calls++;
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
	count_time(taking, node->function, ticks);
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
	clear_times(taking, profile->function_count);
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
	swz_map_free(&taking->times_index);
	free(taking->has_times);
	free(taking->open);
	free(taking->stack);
	free(taking);
}

/* --- cost: self times and sums ------------------------------------------- */

/* The invariant that costs keep: a node's ticks appear once as time of its
 * context and once as time that its caller spent in it, so the self times add
 * up to the root's ticks, exactly. */

/* Temporary sums per context, of nodes whose time is spent in it (within) and
 * of nodes that are called from it (beneath). */
struct sums {
	int64_t within;
	int64_t beneath;
	int64_t cost; /* of the hooks, in the context's self time */
	double variance;
};

/* A folded node is not really called from its parent, so its time must not be
 * taken from it. */
static bool called_from_parent(const struct swz_tree_node *node)
{
	return !(node->flags & SWZ_NODE_FOLDED);
}

static int64_t cost_inside(const struct swz_tree *tree,
			   const struct swz_tree_node *node)
{
	return swz_call_cost(node->calls, tree->cost_inside);
}

int64_t swz_tree_cost_outside(const struct swz_tree *tree,
			      const struct swz_tree_node *node)
{
	uint64_t timed = node->timed, cost = tree->cost_outside;
	int64_t sum;

	if (!tree->sampled)
		return swz_call_cost(node->calls, cost);
	sum = swz_add(
		swz_call_cost(timed, swz_add_count(tree->cost_inside, cost)),
		swz_call_cost(node->calls - timed,
			      node->is_leaf ? tree->cost_leaf
					    : tree->cost_untimed));
	return swz_sub(sum, cost_inside(tree, node));
}

static void sum_recursive_nodes(struct swz_tree *tree, struct sums *sums)
{
	uint32_t i;

	for (i = 1; i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];
		struct sums *context = &sums[node->context];
		struct sums *parent = &sums[node->parent];

		context->cost = swz_add(context->cost, cost_inside(tree, node));
		/* both parts of it: whoever made these calls was not traced */
		if (node->id == SWZ_FUNCTION_UNTRACED && tree->compensated)
			context->cost = swz_add(
				tree->untraced_own,
				swz_call_cost(
					tree->untraced_calls,
					swz_add_count(tree->cost_inside,
						      tree->cost_outside)));
		if (called_from_parent(node))
			parent->cost = swz_add(
				parent->cost,
				swz_tree_cost_outside(tree, node));
		/* what a context calls of itself adds nothing to its self */
		if (node->context == node->parent && called_from_parent(node))
			continue;
		context->variance += node->variance;
		if (called_from_parent(node))
			parent->variance += node->variance;
		if (swz_tree_is_context(tree, i))
			continue;
		context->within = swz_add(context->within, node->ticks);
		if (called_from_parent(node))
			parent->beneath = swz_add(parent->beneath, node->ticks);
	}
}

/* True if the function is not on the path above. */
static bool is_outermost(const struct swz_tree *tree, uint32_t index)
{
	uint32_t function = tree->nodes[index].function;

	while (index != SWZ_TREE_ROOT) {
		const struct swz_tree_node *node;

		index = tree->nodes[index].parent;
		node = &tree->nodes[index];
		if (node->function == function &&
		    !(node->flags & SWZ_NODE_HIDDEN))
			return false;
	}
	return true;
}

/* Code that is not hooked lasts as long as what it called. What else it took is
 * the self time of the hooked function above, and so is the hooks' cost. */
static void derive_code(struct swz_tree *tree, struct sums *sums,
			uint32_t index)
{
	struct swz_tree_node *node = &tree->nodes[index];
	struct sums *parent = &sums[node->parent];

	node->ticks = sums[index].beneath;
	node->outer_ticks = is_outermost(tree, index) ? node->ticks : 0;
	parent->cost = swz_add(parent->cost, sums[index].cost);
	parent->variance += sums[index].variance;
	parent->beneath = swz_add(parent->beneath, node->ticks);
}

/* Children first. A context that seems shorter than what it called was torn:
 * it lasted at least as long as that. */
static void derive_self(struct swz_tree *tree, struct sums *sums)
{
	size_t i;

	for (i = tree->context_count; i-- > 0;) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		const struct sums *sum = &sums[index];
		struct sums *parent = &sums[node->parent];
		int64_t self = swz_sub(swz_add(node->ticks, sum->within),
				       sum->beneath);

		if (node->is_code) {
			derive_code(tree, sums, index);
			continue;
		}
		if (self < 0 && index == SWZ_TREE_ROOT && tree->sampled) {
			self = 0;
		} else if (self < 0) {
			node->ticks = swz_sub(node->ticks, self);
			node->outer_ticks = swz_sub(node->outer_ticks, self);
			self = 0;
			/* estimates may miss by as much */
			if (!tree->sampled)
				tree->repaired_nodes++;
		}
		node->raw_self = self;
		node->self = swz_sub(self, sum->cost);
		node->self_variance = sum->variance;
		if (node->self < 0 ||
		    (tree->compensated && node->id == SWZ_FUNCTION_OURSELVES))
			node->self = 0;
		if (index != SWZ_TREE_ROOT && called_from_parent(node))
			parent->beneath = swz_add(parent->beneath, node->ticks);
	}
}

/* Makes the self times, or the raw ones, smaller as OF is than SUM. */
static void scale_self(struct swz_tree *tree, bool raw, int64_t of, int64_t sum)
{
	for (size_t i = 0; i < tree->context_count; i++) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		int64_t *self = raw ? &node->raw_self : &node->self;

		*self = swz_scale(*self, (uint64_t)of, (uint64_t)sum);
	}
}

static void sum_self(const struct swz_tree *tree, int64_t *raw, int64_t *self)
{
	*raw = *self = 0;
	for (size_t i = 0; i < tree->context_count; i++) {
		const struct swz_tree_node *node =
			&tree->nodes[tree->contexts[i]];

		*raw = swz_add(*raw, node->raw_self);
		*self = swz_add(*self, node->self);
	}
}

/* Estimates may come to more than the thread's time, which is known. So may
 * what is left of them without the hooks: the caller gets back what calls that
 * are not timed took less than is taken from their own, which may have had
 * less. */
static void settle_estimates(struct swz_tree *tree)
{
	int64_t total = tree->nodes[SWZ_TREE_ROOT].ticks, raw, self;

	sum_self(tree, &raw, &self);
	if (raw > total) {
		scale_self(tree, true, total, raw);
		scale_self(tree, false, total, raw);
		sum_self(tree, &raw, &self);
	}
	if (self > raw)
		scale_self(tree, false, raw, self);
}

static void sum_subtrees(struct swz_tree *tree)
{
	size_t i;

	for (i = tree->context_count; i-- > 0;) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		struct swz_tree_node *parent = &tree->nodes[node->parent];

		node->raw_below = swz_add(node->raw_below, node->raw_self);
		node->self_below = swz_add(node->self_below, node->self);
		if (i == 0)
			break;
		parent->raw_below = swz_add(parent->raw_below, node->raw_below);
		parent->self_below = swz_add(parent->self_below,
					     node->self_below);
	}
}

/* The one of two ancestors of a node that is nearer to the root. */
static uint32_t higher(const struct swz_tree_order *order, uint32_t a,
		       uint32_t b)
{
	return order->preorder[a] < order->preorder[b] ? a : b;
}

/* Where recursion leads out of each subtree: upwards what is seen from below,
 * then downwards, as the place it leads to may lead out further. */
static void find_tops(const struct swz_tree_order *order)
{
	struct swz_tree *tree = order->tree;
	struct swz_tree_node *nodes = tree->nodes;
	size_t i;

	for (i = 0; i < tree->context_count; i++)
		nodes[tree->contexts[i]].top = tree->contexts[i];
	for (i = 1; i < tree->count; i++) {
		uint32_t to = nodes[i].context;

		if (swz_tree_is_context(tree, (uint32_t)i))
			continue;
		if (!swz_tree_encloses(order, to, nodes[i].parent))
			to = SWZ_TREE_ROOT; /* a folded node */
		nodes[nodes[i].parent].top = higher(
			order, nodes[nodes[i].parent].top, to);
	}
	for (i = tree->context_count; i-- > 1;) {
		struct swz_tree_node *node = &nodes[tree->contexts[i]];

		nodes[node->parent].top = higher(order, nodes[node->parent].top,
						 node->top);
	}
	for (i = 1; i < tree->context_count; i++) {
		struct swz_tree_node *node = &nodes[tree->contexts[i]];

		node->top = nodes[node->top].top;
	}
}

/* A sum of profiles gives self times; what is below is added to them. */
static void derive_inclusive(struct swz_tree *tree)
{
	int64_t *below = swz_allocate(tree->count, sizeof(*below));
	size_t i;

	for (i = tree->context_count; i-- > 0;) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];

		node->raw_self = node->self = node->ticks;
		node->ticks = swz_add(node->ticks, below[index]);
		if (index != SWZ_TREE_ROOT)
			below[node->parent] = swz_add(below[node->parent],
						      node->ticks);
	}
	free(below);
	/* recursion may have led out of the subtree, and back */
	for (i = 0; i < tree->count; i++) {
		struct swz_tree_node *node = &tree->nodes[i];

		if (tree->samples || i == SWZ_TREE_ROOT)
			node->outer_ticks = node->ticks;
		else if (node->ticks < node->outer_ticks)
			node->ticks = node->outer_ticks;
	}
}

static void derive_total(struct swz_tree *tree)
{
	size_t i;

	tree->total_ticks = 0;
	for (i = 0; i < tree->context_count; i++)
		tree->total_ticks = swz_add(
			tree->total_ticks,
			tree->nodes[tree->contexts[i]].raw_self);
	for (i = 1; i < tree->count; i++)
		if (!called_from_parent(&tree->nodes[i]))
			tree->total_ticks = swz_sub(tree->total_ticks,
						    tree->nodes[i].ticks);
	if (tree->total_ticks < 0)
		tree->total_ticks = 0;
}

void swz_tree_cost(const struct swz_tree_order *order)
{
	struct swz_tree *tree = order->tree;
	struct sums *sums;

	if (tree->merged) {
		derive_inclusive(tree);
		sum_subtrees(tree);
		find_tops(order);
		if (!tree->counts)
			tree->total_ticks =
				(int64_t)(order->thread->last_ticks -
					  order->thread->record.start_ticks);
		return;
	}
	sums = swz_allocate(tree->count, sizeof(*sums));
	sum_recursive_nodes(tree, sums);
	derive_self(tree, sums);
	free(sums);
	if (tree->sampled)
		settle_estimates(tree);
	sum_subtrees(tree);
	find_tops(order);
	derive_total(tree);
}

int64_t swz_tree_inclusive(const struct swz_tree *tree,
			   const struct swz_tree_node *node)
{
	const struct swz_tree_node *context = &tree->nodes[node->context];
	const struct swz_tree_node *top = &tree->nodes[context->top];

	return swz_scale(node->outer_ticks, (uint64_t)top->self_below,
			 (uint64_t)top->raw_below);
}
