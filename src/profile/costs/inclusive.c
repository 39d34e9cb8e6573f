/* One walk over the contexts, parents first, which knows how often each
 * function is on the path. */

#include "profile/costs/inclusive.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define NO_EDGE UINT32_MAX

struct walk {
	const struct swz_inclusive *in;
	uint32_t *path; /* functions */
	size_t capacity;
	uint32_t depth;
	uint32_t *times;  /* per function: how often it is on the path */
	uint32_t *depths; /* per node: the path's length with it */
};

static void sum_below(struct swz_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];

		node->below_ns = node->self_ns;
		node->below_waiting_ns = node->self_waiting_ns;
		node->below_calls = node->calls;
	}
	for (i = tree->context_count; i-- > 1;) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		struct swz_tree_node *parent = &tree->nodes[node->parent];

		parent->below_ns = swz_add(parent->below_ns, node->below_ns);
		parent->below_waiting_ns = swz_add(parent->below_waiting_ns,
						   node->below_waiting_ns);
		parent->below_calls = swz_add_count(parent->below_calls,
						    node->below_calls);
	}
}

static void leave(struct walk *walk, uint32_t depth)
{
	while (walk->depth > depth)
		walk->times[walk->path[--walk->depth]]--;
}

/* Returns whether the function is topmost. */
static bool enter(struct walk *walk, uint32_t function)
{
	swz_grow(&walk->path, &walk->capacity, walk->depth,
		 sizeof(*walk->path));
	walk->path[walk->depth++] = function;
	return walk->times[function]++ == 0;
}

static void visit(struct walk *walk, uint32_t index)
{
	const struct swz_inclusive *in = walk->in;
	const struct swz_tree_node *node = &in->tree->nodes[index];
	struct swz_inclusive_sum *sum = &in->functions[in->shown[index]];
	uint32_t edge = in->edges ? in->edges[index] : NO_EDGE;

	if (!enter(walk, in->shown[index])) {
		sum->recursive = true;
		return;
	}
	sum->ns = swz_add(sum->ns, node->below_ns);
	sum->waiting_ns = swz_add(sum->waiting_ns, node->below_waiting_ns);
	sum->topmost_ticks = swz_add(sum->topmost_ticks,
				     swz_tree_inclusive(in->tree, node));
	sum->split |= node->top != index;
	if (edge != NO_EDGE) {
		struct swz_inclusive_edge *of = &in->edge_sums[edge];

		of->ns = swz_add(of->ns, node->below_ns);
		of->waiting_ns = swz_add(of->waiting_ns,
					 node->below_waiting_ns);
		of->samples = swz_add_count(of->samples, node->below_calls);
	}
}

void swz_inclusive_derive(const struct swz_inclusive *inclusive)
{
	const struct swz_tree *tree = inclusive->tree;
	struct walk walk = {.in = inclusive};
	size_t i;

	sum_below(inclusive->tree);
	walk.times = swz_allocate(inclusive->function_count,
				  sizeof(*walk.times));
	walk.depths = swz_allocate(tree->count, sizeof(*walk.depths));
	visit(&walk, SWZ_TREE_ROOT);
	walk.depths[SWZ_TREE_ROOT] = walk.depth;
	for (i = 1; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		const struct swz_tree_node *node = &tree->nodes[index];

		leave(&walk, walk.depths[node->parent]);
		if (!(node->flags & SWZ_NODE_HIDDEN))
			visit(&walk, index);
		walk.depths[index] = walk.depth;
	}
	free(walk.path);
	free(walk.times);
	free(walk.depths);
}
