/* The tree from the root. */

#include <stdlib.h>
#include <string.h>

#include "profile/formats/context_rows.h"
#include "profile/support/memory.h"

static int compare_contexts(const void *left, const void *right, void *argument)
{
	const struct swz_context_table *table = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	struct swz_costs_diff x = swz_context_costs(table, a),
			      y = swz_context_costs(table, b);
	int order = swz_context_compare_costs(table, &x, &y);

	return order ? order
		     : swz_context_compare_functions(
			       table->section,
			       table->contexts->items[a].function,
			       table->contexts->items[b].function);
}

static int compare_weights(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* How much there is of each context and those beneath it: no context has less
 * than one of these. (Differences may cancel in the one above them.) */
static uint64_t *find_weights(const struct swz_context_table *table)
{
	const struct swz_contexts *contexts = table->contexts;
	uint64_t *weights = swz_allocate(contexts->count, sizeof(*weights));
	uint32_t i;

	for (i = (uint32_t)contexts->count; i-- > 0;) {
		struct swz_costs_diff costs = swz_context_costs(table, i);
		uint32_t parent = contexts->items[i].parent;

		if (swz_diff_inclusive(&costs) > weights[i])
			weights[i] = swz_diff_inclusive(&costs);
		if (weights[i] > weights[parent])
			weights[parent] = weights[i];
	}
	return weights;
}

/* Where so few lines are wanted, they are the contexts with most weight. */
static uint64_t least_of(const uint64_t *weights, size_t count, size_t rows)
{
	uint64_t *sorted = swz_allocate(count, sizeof(*sorted));
	uint64_t least;

	memcpy(sorted, weights, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_weights);
	least = sorted[rows - 1];
	free(sorted);
	return least;
}

static void put_below(const struct swz_context_table *table,
		      const struct swz_children *children,
		      const uint64_t *weights, uint32_t root)
{
	const struct swz_context *items = table->contexts->items;
	uint32_t *next = swz_allocate(SWZ_CONTEXT_DEPTH + 1, sizeof(*next));
	size_t shown = 0, depth = 0;
	uint32_t at = root;

	for (;;) {
		struct swz_costs_diff costs = swz_context_costs(table, at);

		swz_context_put_row(table, &costs, (uint32_t)depth,
				    items[at].function, items[at].folded);
		if (++shown == table->options->rows)
			break;
		next[depth] = children->start[at];
		for (;;) {
			while (next[depth] < children->start[at + 1] &&
			       weights[children->items[next[depth]]] <
				       table->least)
				next[depth]++;
			if (next[depth] < children->start[at + 1])
				break;
			if (at == root) {
				free(next);
				return;
			}
			at = items[at].parent;
			depth--;
		}
		at = children->items[next[depth]++];
		depth++;
	}
	free(next);
}

void swz_context_put_top_down(const struct swz_context_table *table)
{
	size_t count = table->contexts->count, rows = table->options->rows;
	struct swz_context_table of = *table;
	struct swz_children children;
	uint64_t *weights;

	of.of_self = false;
	if (of.sort == SWZ_SORT_DEFAULT)
		of.sort = SWZ_SORT_INCLUSIVE;
	weights = find_weights(&of);
	if (rows && rows < count) {
		uint64_t least = least_of(weights, count, rows);

		of.least = least > of.least ? least : of.least;
	}
	swz_children_find(&children, of.contexts, compare_contexts, &of);
	swz_context_put_columns(&of);
	put_below(&of, &children, weights, SWZ_CONTEXT_ROOT);
	swz_children_free(&children);
	free(weights);
}
