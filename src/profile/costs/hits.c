/* A node of its own holds what hit one instruction; for all else it is hidden,
 * and counts for its parent. */

#include "profile/costs/hits.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

bool swz_hits_are_of(const struct swz_tree *tree,
		     const struct swz_tree_node *node)
{
	const struct swz_tree_node *parent = &tree->nodes[node->parent];

	return node->flags & SWZ_NODE_HIT && node->id == parent->id &&
	       !(parent->flags & SWZ_NODE_HIDDEN);
}

uint32_t swz_hits_place(struct swz_binding *binding,
			const struct swz_tree_node *node)
{
	/* (it looks at the byte before a return address) */
	return swz_binding_place(
		binding, node->call_site + 1,
		swz_binding_function(binding, node->function, node->id));
}

static struct swz_hit *hit_at(struct swz_hits *hits, uint32_t function,
			      uint32_t place)
{
	uint32_t *found = swz_map_at(&hits->index, function, place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&hits->items, &hits->capacity, hits->count,
			 sizeof(*hits->items));
		*found = (uint32_t)hits->count++;
		hits->items[*found] = (struct swz_hit){.function = function,
						       .place = place};
	}
	return &hits->items[*found];
}

void swz_hits_add(struct swz_hits *hits, struct swz_binding *binding,
		  const struct swz_tree *tree)
{
	size_t i;

	for (i = 1; hits->wanted && i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];
		struct swz_hit *hit;
		uint32_t place;

		/* (a damaged file; the function may be in no report) */
		if (!swz_hits_are_of(tree, node) ||
		    (!tree->nodes[node->parent].calls && !node->self_ns))
			continue;
		place = swz_hits_place(binding, node);
		if (place == SWZ_PLACE_UNKNOWN)
			continue;
		hit = hit_at(
			hits,
			swz_binding_function(binding, node->function, node->id),
			place);
		hit->samples = swz_add_count(hit->samples, node->hits);
		hit->self_ns = swz_add(hit->self_ns, node->self_ns);
		hit->self_waiting_ns = swz_add(hit->self_waiting_ns,
					       node->self_waiting_ns);
	}
}

static int compare(const void *left, const void *right)
{
	const struct swz_hit *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

void swz_hits_sort(struct swz_hits *hits)
{
	if (hits->count > 1)
		qsort(hits->items, hits->count, sizeof(*hits->items), compare);
	/* the index is of the old order */
	swz_map_free(&hits->index);
}

void swz_hits_free(struct swz_hits *hits)
{
	free(hits->items);
	swz_map_free(&hits->index);
	*hits = (struct swz_hits){0};
}
