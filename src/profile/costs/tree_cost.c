/* The invariant that costs keep: a node's ticks appear once as time of its
 * context and once as time that its caller spent in it, so the self times add
 * up to the root's ticks, exactly. */

#include "profile/costs/tree_builder.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

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

/* Whether the function is not on the path above. */
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

/* Estimates may come to more than the thread's time, which is known. */
static void settle_estimates(struct swz_tree *tree)
{
	int64_t total = tree->nodes[SWZ_TREE_ROOT].ticks, sum = 0;
	size_t i;

	for (i = 0; i < tree->context_count; i++)
		sum = swz_add(sum, tree->nodes[tree->contexts[i]].raw_self);
	if (sum <= total)
		return;
	for (i = 0; i < tree->context_count; i++) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];

		node->raw_self = swz_scale(node->raw_self, (uint64_t)total,
					   (uint64_t)sum);
		node->self = swz_scale(node->self, (uint64_t)total,
				       (uint64_t)sum);
	}
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

/* Of two ancestors of one node the one nearer to the root. */
static uint32_t higher(const struct swz_tree_builder *builder, uint32_t a,
		       uint32_t b)
{
	return builder->preorder[a] < builder->preorder[b] ? a : b;
}

/* Where recursion leads out of each subtree: upwards what is seen from below,
 * then downwards, as the place it leads to may lead out further. */
static void find_tops(const struct swz_tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	struct swz_tree_node *nodes = tree->nodes;
	size_t i;

	for (i = 0; i < tree->context_count; i++)
		nodes[tree->contexts[i]].top = tree->contexts[i];
	for (i = 1; i < tree->count; i++) {
		uint32_t to = nodes[i].context;

		if (swz_tree_is_context(tree, (uint32_t)i))
			continue;
		if (!swz_tree_encloses(builder, to, nodes[i].parent))
			to = SWZ_TREE_ROOT; /* a folded node */
		nodes[nodes[i].parent].top = higher(
			builder, nodes[nodes[i].parent].top, to);
	}
	for (i = tree->context_count; i-- > 1;) {
		struct swz_tree_node *node = &nodes[tree->contexts[i]];

		nodes[node->parent].top = higher(
			builder, nodes[node->parent].top, node->top);
	}
	for (i = 1; i < tree->context_count; i++) {
		struct swz_tree_node *node = &nodes[tree->contexts[i]];

		node->top = nodes[node->top].top;
	}
}

/* Of a sum of profiles self times are given; what is below is added to them. */
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

void swz_tree_cost(const struct swz_tree_builder *builder)
{
	struct swz_tree *tree = builder->tree;
	struct sums *sums;

	if (tree->merged) {
		derive_inclusive(tree);
		sum_subtrees(tree);
		find_tops(builder);
		tree->total_ticks =
			(int64_t)(builder->thread->last_ticks -
				  builder->thread->record.start_ticks);
		return;
	}
	sums = swz_allocate(tree->count, sizeof(*sums));
	sum_recursive_nodes(tree, sums);
	derive_self(tree, sums);
	free(sums);
	if (tree->sampled)
		settle_estimates(tree);
	sum_subtrees(tree);
	find_tops(builder);
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
