/* From node slots to a calling context tree with costs.
 *
 * Three steps: collect (which slots belong together: tree_collect.c), order
 * (contexts in preorder, which finds cycles and orphans: here), and cost
 * (tree_cost.c). All are iterative, as the depth is the file's choice. After
 * `collect' the arrays hold whatever the file says; after `order' every parent
 * is a context that leads to the root and every other context is an ancestor of
 * its node. */

#include "profile/costs/tree.h"

#include <stdlib.h>

#include "profile/support/memory.h"
#include "profile/costs/tree_builder.h"

#define NONE SWZ_INDEX_NONE

/* Walks the contexts from the root. Children of each parent are a linked list
 * through `next', so the walk needs no stack but the parents themselves. */
static void walk(struct swz_tree_builder *builder, const uint32_t *parents,
		 const uint32_t *first, const uint32_t *next)
{
	struct swz_tree *tree = builder->tree;
	uint32_t at = SWZ_TREE_ROOT;
	uint32_t position = 0;

	for (;;) {
		builder->preorder[at] = position;
		tree->contexts[position++] = at;
		if (first[at] != NONE) {
			at = first[at];
			continue;
		}
		for (;;) {
			builder->last_below[at] = position - 1;
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
static void order_contexts(struct swz_tree_builder *builder)
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
		builder->preorder[i] = NONE;
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

static bool consistent(const struct swz_tree_builder *builder, uint32_t index)
{
	const struct swz_tree *tree = builder->tree;
	const struct swz_tree_node *node = &tree->nodes[index];

	if (node->context == index)
		return builder->preorder[index] != NONE;
	if (node->parent == NONE || node->context == NONE ||
	    builder->preorder[node->parent] == NONE ||
	    builder->preorder[node->context] == NONE)
		return false;
	/* (preorder is only ever set for contexts) */
	if (tree->nodes[node->context].id != node->id)
		return false;
	return node->flags & SWZ_NODE_FOLDED ||
	       swz_tree_encloses(builder, node->context, node->parent);
}

/* Removes inconsistent nodes and renumbers what remains. A consistent node
 * only refers to consistent ones. */
static void compact(struct swz_tree_builder *builder)
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
		builder->preorder[renumbered[i]] = builder->preorder[i];
		builder->last_below[renumbered[i]] = builder->last_below[i];
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
	struct swz_tree_builder builder = {
		.tree = tree,
		.profile = profile,
		.thread = thread,
		.range = range,
	};

	*tree = (struct swz_tree){.compensated = compensate};
	tree->sampled = profile->header.flags & SWZ_FILE_SAMPLED;
	tree->samples = profile->header.flags & SWZ_FILE_SAMPLES;
	tree->merged = profile->header.flags & SWZ_FILE_MERGED;
	if (compensate) {
		tree->cost_untimed = profile->header.cost_untimed;
		tree->cost_leaf = profile->header.cost_leaf;
		tree->cost_inside = profile->header.cost_inside;
		tree->cost_outside = profile->header.cost_outside;
	}
	swz_tree_collect(&builder);
	tree->contexts = swz_allocate(tree->count, sizeof(*tree->contexts));
	builder.preorder = swz_allocate(tree->count, sizeof(uint32_t));
	builder.last_below = swz_allocate(tree->count, sizeof(uint32_t));
	order_contexts(&builder);
	compact(&builder);
	swz_tree_cost(&builder);
	free(builder.preorder);
	free(builder.last_below);
	free(builder.units.items);
}

void swz_tree_free(struct swz_tree *tree)
{
	free(tree->nodes);
	free(tree->contexts);
	*tree = (struct swz_tree){0};
}
