#ifndef SWZ_PROFILE_COSTS_TREE_BUILDER_H
#define SWZ_PROFILE_COSTS_TREE_BUILDER_H

/* What the three steps of tree.c share. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/costs/tree.h"
#include "profile/names/unit_index.h"

struct swz_tree_builder {
	struct swz_tree *tree;
	struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	const struct swz_range *range; /* NULL: all */
	struct swz_unit_index units;   /* of nodes */
	uint32_t *preorder;            /* per node: position, SWZ_INDEX_NONE if
					* unreachable */
	uint32_t *last_below; /* per node: position of its last descendant */
};

/* The first step: the tree's nodes as the file has them, times closed; parents
 * and contexts are indices, SWZ_INDEX_NONE where there is no such node. */
void swz_tree_collect(struct swz_tree_builder *builder);

/* A sum of a node with so many activations that are open, as if they had ended
 * at EXIT (as nodes have it). *repaired is set if the number was wrong. */
int64_t swz_close_ticks(int64_t ticks, uint64_t open, uint64_t exit,
			bool *repaired);

/* The last step: self times, sums over subtrees, the total. */
void swz_tree_cost(const struct swz_tree_builder *builder);

static inline bool swz_tree_is_context(const struct swz_tree *tree,
				       uint32_t index)
{
	return tree->nodes[index].context == index;
}

/* After the second step: whether the inner context lies in the outer one. */
static inline bool swz_tree_encloses(const struct swz_tree_builder *builder,
				     uint32_t outer, uint32_t inner)
{
	return builder->preorder[outer] <= builder->preorder[inner] &&
	       builder->preorder[inner] <= builder->last_below[outer];
}

#endif
