/* Trees for people and for awk: each line is a row of a table, as in text.c,
 * and the names are indented.
 *
 * In a comparison each context has two sets of costs, and how much there is of
 * it is how much they differ. */

#include "profile/context_rows.h"

#include <stdlib.h>
#include <string.h>

#include "profile/memory.h"

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
				    items[at].function, items[at].recursive);
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

/* The columns are as wide as the report's figures need: what is there of a
 * function in several contexts is not more. */
static void compare(struct swz_context_table *table)
{
	const struct swz_section *section = table->section;
	const struct swz_report *reports[] = {section->report,
					      section->old->report};
	size_t i, side;

	table->old = section->old->contexts;
	table->total = swz_diff_total(section);
	for (side = 0; side < 2; side++)
		for (i = 0; i < reports[side]->function_capacity; i++) {
			struct swz_costs costs = {
				reports[side]->functions[i].calls,
				reports[side]->functions[i].self_ns,
				reports[side]->total_ns};

			swz_diff_widen(&table->widths, &costs);
		}
}

void swz_write_tree(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	struct swz_context_table table = {
		.stream = stream,
		.section = section,
		.options = options,
		.contexts = section->contexts,
		.sort = options->sort,
		.total = section->report->total_ns,
	};

	if (section->old)
		compare(&table);
	if (options->percent_limit > 0)
		table.least = (uint64_t)(options->percent_limit / 100.0 *
					 (double)table.total);
	if (section->old)
		swz_diff_put_heading(stream, section);
	else
		swz_put_heading(stream, section);
	if (options->filters.count)
		swz_context_put_relatives(&table);
	else if (options->bottom_up)
		swz_context_put_bottom_up(&table);
	else
		swz_context_put_top_down(&table);
}
