/* A thread's node slots become a calling context tree with costs, in three
 * steps: collect (which slots belong together), order (contexts in preorder,
 * which finds cycles and orphans), and cost. All are iterative, as the depth is
 * the file's choice. */

#include "profile/costs/call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"

/* --- collect: the slots of a thread -------------------------------------- */

struct tree_builder {
	struct swz_tree *tree;
	struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	const struct swz_range *range; /* NULL: all */
	struct swz_unit_index units;   /* of nodes */
	struct swz_tree_order order;
};

#define NONE SWZ_INDEX_NONE

static struct swz_tree_node *append(struct tree_builder *builder)
{
	return &builder->tree->nodes[builder->tree->count++];
}

/* Makes room for all slots there are. */
static void make_room(struct tree_builder *builder)
{
	const struct swz_profile_thread *thread = builder->thread;
	size_t count = 2, i; /* with the root and what was not traced */

	for (i = 0; i < thread->span_count; i++)
		count += thread->spans[i].count;
	builder->tree->nodes = swz_allocate_dense(count,
						  sizeof(struct swz_tree_node));
	builder->units.root = thread->record.root;
	if (thread->span_count) {
		const struct swz_node_span *last =
			&thread->spans[thread->span_count - 1];

		/* spans are sorted */
		builder->units.first = thread->spans[0].unit;
		builder->units.count = (size_t)last->unit + last->count -
				       builder->units.first;
	}
	builder->units.items = swz_allocate(builder->units.count,
					    sizeof(uint32_t));
}

static void collect_root(struct tree_builder *builder)
{
	const struct swz_profile_thread *thread = builder->thread;
	uint64_t total = thread->last_ticks - thread->record.start_ticks;

	*append(builder) = (struct swz_tree_node){
		.id = SWZ_FUNCTION_ROOT,
		.function = NONE,
		.folded_caller = NONE,
		.ticks = (int64_t)total,
		.outer_ticks = (int64_t)total,
	};
}

/* A sum of times, with the activations that are open ended at EXIT, the
 * thread's last moment as nodes have it. `open` may be wrong when the process
 * was killed, or a hook abandoned, between two instructions: what is left of
 * the bias tells by how many. The sum is modulo 2^64, as it was when the file
 * was written. */
int64_t swz_close_ticks(int64_t ticks, uint64_t open, uint64_t exit,
			bool *repaired)
{
	uint64_t sum = (uint64_t)ticks + open * exit;
	int64_t excess = (int64_t)(sum + SWZ_TICKS_BIAS / 2) >> 56;

	if (excess)
		*repaired = true;
	return (int64_t)(sum - (uint64_t)excess * exit);
}

static int64_t clamp(int64_t value, int64_t high)
{
	return value < 0 ? 0 : value > high ? high : value;
}

static int64_t repair(int64_t value, int64_t bound, bool *repaired)
{
	if (value >= 0 && value <= bound)
		return value;
	*repaired = true;
	return clamp(value, bound);
}

static int64_t limit_ticks(uint64_t ticks, int64_t limit)
{
	return ticks > (uint64_t)limit ? limit : (int64_t)ticks;
}

/* The most that the activations can have lasted together: those that ended no
 * longer than the longest each, the others no longer than the thread. */
static int64_t ticks_bound(const struct swz_node *slot, uint64_t open,
			   int64_t longest, int64_t total)
{
	uint64_t ended = slot->calls > open ? slot->calls - open : 0;

	return swz_add(swz_scale(longest, ended, 1),
		       swz_scale(total, open + 1, 1));
}

/* The thread's last moment, as nodes have it. */
static uint64_t last_moment(const struct tree_builder *builder)
{
	return builder->thread->last_ticks -
	       builder->profile->header.epoch_ticks + SWZ_TICKS_BIAS;
}

/* The squared standard error of the estimate TICKS (Horvitz and Thompson), less
 * what is due to the mean, which is known: the calls are counted. */
static double variance_of(const struct swz_node *slot, double ticks)
{
	double weight = (double)slot->weight, timed = slot->timed, mean, known;

	if (slot->weight <= slot->timed || !slot->timed || !slot->calls)
		return 0;
	mean = ticks / (double)slot->calls;
	/* at least what the sum of weight * (weight - 1) would be if all were
	 * the same */
	known = (double)slot->squares * 16 -
		mean * mean * weight * (weight / timed - 1);
	return known > weight ? known : weight;
}

/* In a forked process, frames that were open at the fork count no call, and
 * those that were resumed none here. */
static bool inherits(const struct tree_builder *builder,
		     const struct swz_node *slot)
{
	return builder->profile->header.flags & SWZ_FILE_FORKED ||
	       slot->open & SWZ_NODE_RESUMED;
}

/* Sampled: the most that so many activations can have lasted together. */
static int64_t estimate_bound(const struct tree_builder *builder,
			      const struct swz_node *slot, uint64_t count)
{
	int64_t total = builder->tree->nodes[SWZ_TREE_ROOT].ticks;

	return inherits(builder, slot) ? INT64_MAX / 4
				       : swz_scale(total, count, 1);
}

static void collect_estimate(struct tree_builder *builder,
			     const struct swz_node *slot, uint32_t unit,
			     struct swz_tree_node *node)
{
	int64_t total = builder->tree->nodes[SWZ_TREE_ROOT].ticks;
	int64_t counted = (int32_t)slot->open >> SWZ_NODE_OPEN_SHIFT;
	uint64_t open = counted > 0 ? (uint64_t)counted : 0;
	int64_t bound = estimate_bound(builder, slot,
				       swz_add_count(slot->calls, open + 1));
	bool repaired = false;
	int64_t ticks = repair(swz_close_ticks(slot->ticks, open,
					       last_moment(builder), &repaired),
			       INT64_MAX / 4, &repaired);

	if (slot->calls && slot->weight)
		ticks = swz_scale(ticks, slot->calls, slot->weight);
	node->calls = slot->calls;
	node->ticks = repair(ticks, bound, &repaired);
	node->timed = slot->timed < slot->calls ? slot->timed : slot->calls;
	node->variance = variance_of(slot, (double)node->ticks);
	/* a recursive activation is never outermost; others mostly are */
	node->outer_ticks = slot->context == unit ? clamp(node->ticks, total)
						  : 0;
	if (repaired)
		builder->tree->repaired_nodes++;
}

static void collect_costs(struct tree_builder *builder,
			  const struct swz_node *slot,
			  struct swz_tree_node *node)
{
	uint64_t last = last_moment(builder);
	int64_t total = builder->tree->nodes[SWZ_TREE_ROOT].ticks;
	int64_t counted = (int32_t)slot->open >> SWZ_NODE_OPEN_SHIFT;
	uint64_t open = counted > 0 ? (uint64_t)counted : 0;
	bool repaired = false, unclosed;
	bool inherited = inherits(builder, slot);

	node->calls = slot->calls;
	if (!inherited && open == slot->calls + 1)
		node->calls = open;
	node->min_ticks = limit_ticks(swz_node_least(slot->min_ticks), total);
	node->max_ticks = limit_ticks(slot->max_ticks, total);
	node->ticks = repair(
		swz_close_ticks(slot->ticks, open, last, &repaired),
		inherited ? INT64_MAX / 4
			  : ticks_bound(slot, open, node->max_ticks, total),
		&repaired);
	node->outer_ticks = swz_close_ticks(slot->outer_ticks, 0, last,
					    &unclosed);
	node->outer_ticks = repair(node->outer_ticks, total, &repaired);
	if (node->outer_ticks > node->ticks)
		node->outer_ticks = node->ticks;
	node->uncounted = inherited;
	if (repaired)
		builder->tree->repaired_nodes++;
}

/* Samples are not torn: the file is written when all is known. */
static void collect_samples(struct tree_builder *builder,
			    const struct swz_node *slot,
			    struct swz_tree_node *node)
{
	bool repaired = false;

	if (node->flags & SWZ_NODE_HIT)
		node->hits = slot->calls;
	else
		node->calls = slot->calls;
	node->ticks = repair(slot->ticks, INT64_MAX / 4, &repaired);
	node->outer_ticks = node->ticks;
	/* with what lies below, until sum_samples() */
	node->waiting = repair(slot->waiting_ticks, node->ticks, &repaired);
	if (repaired)
		builder->tree->repaired_nodes++;
}

static int64_t bounded(int64_t ticks)
{
	return clamp(ticks, INT64_MAX / 4);
}

/* Times are whole, and waiting is the context's own. */
static void collect_merged(struct tree_builder *builder,
			   const struct swz_node *slot,
			   struct swz_tree_node *node)
{
	bool samples = builder->tree->samples;

	node->calls = slot->calls;
	node->ticks = bounded(slot->ticks);
	node->uncounted = slot->open & SWZ_NODE_RESUMED;
	if (samples) {
		node->waiting = clamp(slot->waiting_ticks, node->ticks);
		return;
	}
	node->outer_ticks = bounded(slot->outer_ticks);
	node->min_ticks = limit_ticks(swz_node_least(slot->min_ticks),
				      INT64_MAX / 4);
	node->max_ticks = limit_ticks(slot->max_ticks, INT64_MAX / 4);
}

static void collect_merged_root(struct tree_builder *builder)
{
	const struct swz_profile *profile = builder->profile;
	struct swz_tree_node *root = &builder->tree->nodes[SWZ_TREE_ROOT];
	uint64_t at = (uint64_t)builder->thread->record.root * SWZ_UNIT_BYTES;
	struct swz_node slot;

	root->ticks = 0;
	if (swz_profile_loaded(profile, at, &slot, sizeof(slot)) ==
	    sizeof(slot)) {
		root->ticks = bounded(slot.ticks);
		root->calls = builder->tree->samples ? slot.calls : 0;
	}
	builder->tree->knows_waiting = builder->tree->samples &&
				       profile->header.sample_flags &
					       SWZ_SAMPLES_OF_WAITING;
}

static bool has_flag(const struct swz_profile *profile, uint32_t function,
		     enum swz_function_flags flag)
{
	return function != NONE && profile->functions[function].flags & flag;
}

static bool has_long_calls(const struct tree_builder *builder,
			   const struct swz_node *slot)
{
	return builder->tree->sampled && slot->call_site & SWZ_CALL_SITE_LONG &&
	       !(slot->open & SWZ_NODE_FOLDED);
}

static void collect_slot(struct tree_builder *builder, uint32_t unit)
{
	const struct swz_node *slot = swz_profile_node(builder->profile, unit);
	struct swz_tree_node *node;

	if (slot->function == SWZ_FUNCTION_NONE ||
	    unit == builder->thread->record.root ||
	    has_long_calls(builder, slot))
		return;
	/* (what folded nodes hang below is a hidden root of its own) */
	if (slot->function == SWZ_FUNCTION_UNTRACED ||
	    (slot->function == SWZ_FUNCTION_ROOT &&
	     !(slot->open & SWZ_NODE_HIDDEN))) {
		builder->tree->dropped_nodes++;
		return;
	}
	node = append(builder);
	builder->units.items[unit - builder->units.first] =
		(uint32_t)builder->tree->count;
	*node = (struct swz_tree_node){
		.id = slot->function,
		.unit = unit,
		.function = swz_profile_function_by_id(builder->profile,
						       slot->function),
		.parent = slot->parent, /* units, until resolve() */
		.context = slot->context,
		.flags = slot->open & SWZ_NODE_FLAGS_MASK,
		.folded_caller = NONE,
		.call_site = slot->call_site,
	};
	if (node->flags & SWZ_NODE_FOLDED && node->call_site)
		node->folded_caller = swz_profile_function_at(
			builder->profile, node->call_site - 1);
	node->is_leaf = has_flag(builder->profile, node->function,
				 SWZ_FUNCTION_LEAF);
	node->is_code = has_flag(builder->profile, node->function,
				 SWZ_FUNCTION_AT_RUN_TIME);
	if (node->is_code)
		return; /* what it has is that of those below */
	if (builder->tree->counts)
		node->calls = slot->calls;
	else if (builder->tree->merged)
		collect_merged(builder, slot, node);
	else if (builder->tree->samples)
		collect_samples(builder, slot, node);
	else if (builder->tree->sampled)
		collect_estimate(builder, slot, unit, node);
	else
		collect_costs(builder, slot, node);
}

/* To the edge's other calls. */
static void add_long_calls(struct tree_builder *builder, uint32_t unit)
{
	const struct swz_node *slot = swz_profile_node(builder->profile, unit);
	struct swz_tree *tree = builder->tree;
	int64_t total = tree->nodes[SWZ_TREE_ROOT].ticks, ticks;
	struct swz_tree_node *node;
	bool repaired = false;
	uint32_t index;

	if (slot->function == SWZ_FUNCTION_NONE ||
	    !has_long_calls(builder, slot))
		return;
	index = swz_unit_index(&builder->units, slot->context);
	if (index == NONE || index == SWZ_TREE_ROOT) {
		tree->dropped_nodes++;
		return;
	}
	node = &tree->nodes[index];
	/* the edge's other calls say whether it was resumed */
	ticks = repair(slot->ticks,
		       estimate_bound(builder,
				      swz_profile_node(builder->profile,
						       slot->context),
				      swz_add_count(slot->calls, 1)),
		       &repaired);
	node->calls = swz_add_count(node->calls, slot->calls);
	node->timed = swz_add_count(node->timed, slot->timed);
	if (node->timed > node->calls)
		node->timed = node->calls;
	node->ticks = swz_add(node->ticks, ticks);
	if (node->context == node->unit)
		node->outer_ticks = clamp(node->ticks, total);
	tree->repaired_nodes += repaired;
}

static void collect_unwound(struct tree_builder *builder)
{
	const struct swz_profile_thread *thread = builder->thread;
	struct swz_tree_node *nodes = builder->tree->nodes;
	size_t i;

	for (i = 0; i < thread->unwound_count; i++) {
		const struct swz_profile_unwound *u = &thread->unwound[i];
		uint32_t index = swz_unit_index(&builder->units, u->node);

		if (index != NONE && index != SWZ_TREE_ROOT)
			nodes[index].unwound = u->count;
	}
}

static void collect_times(struct tree_builder *builder)
{
	const struct swz_profile_thread *thread = builder->thread;
	struct swz_tree *tree = builder->tree;
	size_t i;

	if (!thread->times_count || tree->samples || tree->counts)
		return;
	tree->times = swz_allocate(thread->times_count, sizeof(*tree->times));
	tree->times_count = thread->times_count;
	for (i = 0; i < thread->times_count; i++)
		tree->times[i] = (struct swz_tree_times){
			.function = swz_profile_function_by_id(
				builder->profile, thread->times[i].function),
			.bucket = thread->times[i].bucket,
			.calls = thread->times[i].calls};
}

/* A folded node hangs below one that stands for its caller, which is no context
 * of a call. */
static void resolve_folded(const struct swz_tree *tree,
			   struct swz_tree_node *node)
{
	const struct swz_tree_node *parent;

	if (!(node->flags & SWZ_NODE_FOLDED) || node->parent == NONE)
		return;
	parent = &tree->nodes[node->parent];
	if (!(parent->flags & SWZ_NODE_FOLDED) ||
	    parent->id == SWZ_FUNCTION_ROOT)
		return;
	node->folded_caller = parent->function;
	node->parent = parent->parent;
}

/* Units to indices. What is not there becomes NONE. */
static void resolve(struct tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	size_t i;

	for (i = 1; i < tree->count; i++) {
		struct swz_tree_node *node = &tree->nodes[i];

		node->parent = swz_unit_index(&builder->units, node->parent);
		node->context = swz_unit_index(&builder->units, node->context);
	}
	for (i = 1; i < tree->count; i++)
		resolve_folded(tree, &tree->nodes[i]);
}

/* A sampled thread has no time outside of what was sampled. A context's own
 * waiting is what that of its children leaves of it. */
static void sum_samples(struct tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	struct swz_tree_node *root = &tree->nodes[SWZ_TREE_ROOT];
	int64_t *below = swz_allocate(tree->count, sizeof(*below));
	size_t i;

	root->ticks = 0;
	for (i = 1; i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];

		if (node->parent == SWZ_TREE_ROOT)
			root->ticks = swz_add(root->ticks, node->ticks);
		if (node->parent != NONE)
			below[node->parent] = swz_add(below[node->parent],
						      node->waiting);
	}
	root->outer_ticks = root->ticks;
	for (i = 1; i < tree->count; i++) {
		struct swz_tree_node *node = &tree->nodes[i];

		node->waiting = clamp(swz_sub(node->waiting, below[i]),
				      node->ticks);
	}
	free(below);
	tree->knows_waiting = builder->profile->header.sample_flags &
			      SWZ_SAMPLES_OF_WAITING;
}

static void append_untraced(struct tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	uint32_t index = (uint32_t)tree->count;

	if (!tree->untraced_ticks)
		return;
	*append(builder) = (struct swz_tree_node){
		.id = SWZ_FUNCTION_UNTRACED,
		.function = NONE,
		.parent = SWZ_TREE_ROOT,
		.context = index,
		.folded_caller = NONE,
		.ticks = tree->untraced_ticks,
		.outer_ticks = tree->untraced_ticks,
	};
}

/* The first step: the tree's nodes as the file has them, times closed; parents
 * and contexts are indices, SWZ_INDEX_NONE where there is no such node. */
static void tree_collect(struct tree_builder *builder)
{
	const struct swz_profile_thread *thread = builder->thread;
	size_t i;
	uint32_t j;

	make_room(builder);
	collect_root(builder);
	for (i = 0; i < thread->span_count; i++) {
		for (j = 0; j < thread->spans[i].count; j++)
			collect_slot(builder, thread->spans[i].unit + j);
		swz_progress_add(thread->spans[i].count);
	}
	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++)
			add_long_calls(builder, thread->spans[i].unit + j);
	collect_unwound(builder);
	collect_times(builder);
	if (builder->range)
		swz_tree_take_events(builder->tree, &builder->units,
				     builder->profile, thread, builder->range);
	resolve(builder);
	if (builder->tree->counts)
		builder->tree->nodes[SWZ_TREE_ROOT].ticks =
			builder->tree->nodes[SWZ_TREE_ROOT].outer_ticks = 0;
	else if (builder->tree->merged)
		collect_merged_root(builder);
	else if (builder->tree->samples)
		sum_samples(builder);
	append_untraced(builder);
	if (builder->tree->counts)
		return;
	swz_tree_take_switches(builder->tree, &builder->units, builder->profile,
			       thread, builder->range);
	if (!builder->range && !builder->tree->knows_waiting &&
	    !builder->tree->samples)
		swz_tree_take_looks(builder->tree, &builder->units,
				    builder->profile, thread);
}

/* --- order: contexts in preorder ----------------------------------------- */

/* After `collect' the arrays hold whatever the file says; after `order' every
 * parent is a context that leads to the root and every other context is an
 * ancestor of its node. */

/* Walks the contexts from the root. Children of each parent are a linked list
 * through `next', so the walk needs no stack but the parents themselves. */
static void walk(struct tree_builder *builder, const uint32_t *parents,
		 const uint32_t *first, const uint32_t *next)
{
	struct swz_tree *tree = builder->tree;
	uint32_t at = SWZ_TREE_ROOT;
	uint32_t position = 0;

	for (;;) {
		builder->order.preorder[at] = position;
		tree->contexts[position++] = at;
		if (first[at] != NONE) {
			at = first[at];
			continue;
		}
		for (;;) {
			builder->order.last_below[at] = position - 1;
			if (at == SWZ_TREE_ROOT) {
				tree->context_count = position;
				return;
			}
			if (next[at] != NONE)
				break;
			at = parents[at];
		}
		at = next[at];
	}
}

/* (nodes are large: what is looked at in no order is gathered in arrays) */
static void order_contexts(struct tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	uint32_t *parents = swz_allocate(tree->count, sizeof(*parents));
	uint32_t *first = swz_allocate(tree->count, sizeof(*first));
	uint32_t *next = swz_allocate(tree->count, sizeof(*next));
	uint32_t i;

	for (i = 0; i < tree->count; i++) {
		parents[i] = swz_tree_is_context(tree, i)
				     ? tree->nodes[i].parent
				     : NONE;
		first[i] = NONE;
		next[i] = NONE;
		builder->order.preorder[i] = NONE;
	}
	/* backwards, so that children come out in the order of the file; a
	 * parent on a cycle is never reached from the root */
	for (i = (uint32_t)tree->count - 1; i > 0; i--) {
		uint32_t parent = parents[i];

		if (parent == NONE || parent == i || parents[parent] == NONE)
			continue;
		next[i] = first[parent];
		first[parent] = i;
	}
	walk(builder, parents, first, next);
	free(parents);
	free(first);
	free(next);
}

static bool consistent(const struct tree_builder *builder, uint32_t index)
{
	const struct swz_tree *tree = builder->tree;
	const struct swz_tree_node *node = &tree->nodes[index];

	if (node->context == index)
		return builder->order.preorder[index] != NONE;
	if (node->parent == NONE || node->context == NONE ||
	    builder->order.preorder[node->parent] == NONE ||
	    builder->order.preorder[node->context] == NONE)
		return false;
	/* (preorder is only ever set for contexts) */
	if (tree->nodes[node->context].id != node->id)
		return false;
	return node->flags & SWZ_NODE_FOLDED ||
	       swz_tree_encloses(&builder->order, node->context, node->parent);
}

/* Removes inconsistent nodes and renumbers what remains. A consistent node
 * only refers to consistent ones. */
static void compact(struct tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	uint32_t *renumbered = swz_allocate(tree->count, sizeof(*renumbered));
	uint32_t kept = 0;
	uint32_t i;

	for (i = 0; i < tree->count; i++)
		renumbered[i] = consistent(builder, i) ? kept++ : NONE;
	if (kept == tree->count) { /* all keep their numbers */
		free(renumbered);
		return;
	}
	for (i = 0; i < tree->count; i++) {
		struct swz_tree_node node = tree->nodes[i];

		if (renumbered[i] == NONE)
			continue;
		node.parent = renumbered[node.parent];
		node.context = renumbered[node.context];
		builder->order.preorder[renumbered[i]] =
			builder->order.preorder[i];
		builder->order.last_below[renumbered[i]] =
			builder->order.last_below[i];
		tree->nodes[renumbered[i]] = node;
	}
	for (i = 0; i < tree->context_count; i++)
		tree->contexts[i] = renumbered[tree->contexts[i]];
	tree->dropped_nodes += tree->count - kept;
	tree->count = kept;
	free(renumbered);
}

void swz_tree_build(struct swz_tree *tree, struct swz_profile *profile,
		    const struct swz_profile_thread *thread, bool compensate)
{
	swz_tree_build_range(tree, profile, thread, compensate, NULL);
}

void swz_tree_build_range(struct swz_tree *tree, struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  bool compensate, const struct swz_range *range)
{
	struct tree_builder builder = {
		.tree = tree,
		.profile = profile,
		.thread = thread,
		.range = range,
		.order = {.tree = tree, .thread = thread},
	};

	*tree = (struct swz_tree){.compensated = compensate};
	tree->sampled = profile->header.flags & SWZ_FILE_SAMPLED;
	tree->samples = profile->header.flags & SWZ_FILE_SAMPLES;
	tree->counts = profile->header.flags & SWZ_FILE_COUNTS;
	tree->merged = profile->header.flags & SWZ_FILE_MERGED;
	if (compensate && !tree->counts) {
		tree->cost_untimed = profile->header.cost_untimed;
		tree->cost_leaf = profile->header.cost_leaf;
		tree->cost_inside = profile->header.cost_inside;
		tree->cost_outside = profile->header.cost_outside;
	}
	tree_collect(&builder);
	tree->contexts = swz_allocate(tree->count, sizeof(*tree->contexts));
	builder.order.preorder = swz_allocate(tree->count, sizeof(uint32_t));
	builder.order.last_below = swz_allocate(tree->count, sizeof(uint32_t));
	order_contexts(&builder);
	compact(&builder);
	swz_tree_cost(&builder.order);
	swz_tree_place_waiting(tree);
	free(builder.order.preorder);
	free(builder.order.last_below);
	free(builder.units.items);
}

void swz_tree_free(struct swz_tree *tree)
{
	free(tree->nodes);
	free(tree->contexts);
	free(tree->times);
	*tree = (struct swz_tree){0};
}
