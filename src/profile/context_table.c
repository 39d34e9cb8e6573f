/* Trees for people and for awk: each line is a row of a table, as in text.c,
 * and the names are indented.
 *
 * In a comparison each context has two sets of costs, and how much there is of
 * it is how much they differ.
 *
 * The bottom-up tree is not kept anywhere: it may be larger than the contexts
 * by their depth. An array has the contexts of one function; each step upwards
 * sorts a part of it by the caller and goes into each caller's part. */

#include "profile/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/arith.h"
#include "profile/diff.h"
#include "profile/memory.h"
#include "profile/output.h"

#define MAX_INDENT 100u /* levels; a longer path says how long it is */

struct table {
	FILE *stream;
	const struct swz_section *section;
	const struct swz_table_options *options;
	const struct swz_contexts *contexts;
	const struct swz_contexts *old; /* in a comparison; otherwise NULL */
	struct swz_diff_widths widths;  /* the same */
	enum swz_sort sort;
	int64_t total;
	uint64_t least; /* what has less is left out */
	bool of_self;   /* the share is of the self time, otherwise of the
			 * inclusive time */
};

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_functions(const struct swz_section *section, uint32_t a,
			     uint32_t b)
{
	const struct swz_catalog_function *functions =
		section->catalog->functions;
	int order = strcmp(functions[a].name, functions[b].name);

	if (!order)
		order = strcmp(swz_module_name(section, a),
			       swz_module_name(section, b));
	return order ? order : a < b ? -1 : a > b;
}

/* What they are compared by. (Of what is not compared, old is zero.) */
static int compare_costs(const struct table *table,
			 const struct swz_costs_diff *a,
			 const struct swz_costs_diff *b)
{
	int by_calls = descending(swz_diff_calls(a), swz_diff_calls(b));
	int by_self = descending(swz_diff_self(a), swz_diff_self(b));
	int by_inclusive = descending(swz_diff_inclusive(a),
				      swz_diff_inclusive(b));

	if (table->sort == SWZ_SORT_NAME)
		return 0;
	if (table->sort == SWZ_SORT_CALLS)
		return by_calls;
	if (table->sort == SWZ_SORT_SELF)
		return by_self ? by_self : by_inclusive;
	return by_inclusive ? by_inclusive : by_self;
}

static struct swz_costs costs_of_one(const struct swz_context *context)
{
	return (struct swz_costs){context->calls, context->self_ns,
				  context->inclusive_ns};
}

static struct swz_costs_diff costs_of(const struct table *table, uint32_t index)
{
	struct swz_costs_diff costs = {
		.new = costs_of_one(&table->contexts->items[index])};

	if (table->old)
		costs.old = costs_of_one(&table->old->items[index]);
	return costs;
}

static int compare_contexts(const void *left, const void *right, void *argument)
{
	const struct table *table = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	struct swz_costs_diff x = costs_of(table, a), y = costs_of(table, b);
	int order = compare_costs(table, &x, &y);

	return order ? order
		     : compare_functions(table->section,
					 table->contexts->items[a].function,
					 table->contexts->items[b].function);
}

static void put_columns(const struct table *table)
{
	if (table->old) {
		swz_diff_put_columns(table->stream, &table->widths, false);
		return;
	}
	fprintf(table->stream, "%12s %15s %15s %7s  function  module\n",
		"calls", "self", "incl", table->of_self ? "self%" : "incl%");
}

static uint64_t part_of(const struct table *table,
			const struct swz_costs_diff *costs)
{
	return table->of_self ? swz_diff_self(costs)
			      : swz_diff_inclusive(costs);
}

static void put_costs(const struct table *table,
		      const struct swz_costs_diff *costs)
{
	double share = table->total ? 100.0 * (double)part_of(table, costs) /
					      (double)table->total
				    : 0;

	if (table->old)
		swz_diff_put_costs(table->stream, &table->widths, costs);
	else
		fprintf(table->stream,
			"%12" PRIu64 " %15" PRId64 " %15" PRId64 " %7.2f",
			costs->new.calls, costs->new.self_ns,
			costs->new.inclusive_ns, share);
}

static void put_row(const struct table *table,
		    const struct swz_costs_diff *costs, uint32_t depth,
		    uint32_t function, bool recursive)
{
	put_costs(table, costs);
	fprintf(table->stream, "  %*s",
		(int)(2 * (depth < MAX_INDENT ? depth : MAX_INDENT)), "");
	if (depth > MAX_INDENT)
		fprintf(table->stream, "(%" PRIu32 ") ", depth);
	swz_put_text(table->stream,
		     table->section->catalog->functions[function].name);
	fputs("  ", table->stream);
	swz_put_text(table->stream, swz_module_name(table->section, function));
	if (recursive)
		fputs("  (recursive)", table->stream);
	if (table->old)
		fputs(swz_diff_remark(costs), table->stream);
	putc('\n', table->stream);
}

/* ---- top-down ---- */

static int compare_weights(const void *left, const void *right)
{
	return descending(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* How much there is of each context and those beneath it: no context has less
 * than one of these. (Differences may cancel in the one above them.) */
static uint64_t *find_weights(const struct table *table)
{
	const struct swz_contexts *contexts = table->contexts;
	uint64_t *weights = swz_allocate(contexts->count, sizeof(*weights));
	uint32_t i;

	for (i = (uint32_t)contexts->count; i-- > 0;) {
		struct swz_costs_diff costs = costs_of(table, i);
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

static void put_below(const struct table *table,
		      const struct swz_children *children,
		      const uint64_t *weights, uint32_t root)
{
	const struct swz_context *items = table->contexts->items;
	uint32_t *next = swz_allocate(SWZ_CONTEXT_DEPTH + 1, sizeof(*next));
	size_t shown = 0, depth = 0;
	uint32_t at = root;

	for (;;) {
		struct swz_costs_diff costs = costs_of(table, at);

		put_row(table, &costs, (uint32_t)depth, items[at].function,
			items[at].recursive);
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

static void put_top_down(const struct table *table)
{
	size_t count = table->contexts->count, rows = table->options->rows;
	struct table of = *table;
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
	put_columns(&of);
	put_below(&of, &children, weights, SWZ_CONTEXT_ROOT);
	swz_children_free(&children);
	free(weights);
}

/* ---- bottom-up ---- */

/* A context of the function that a bottom-up tree is of, and the one above it
 * that the tree has come to. */
struct origin {
	uint32_t context;
	uint32_t above;    /* SWZ_INDEX_NONE: past the root */
	uint32_t function; /* of the one above */
};

/* Some of the origins, all at the same function. */
struct group {
	size_t start;
	size_t end;
	struct swz_costs_diff costs;
	uint32_t function;
};

static void step_up(const struct table *table, struct origin *origin)
{
	const struct swz_context *items = table->contexts->items;

	origin->above = origin->above == SWZ_CONTEXT_ROOT
				? SWZ_INDEX_NONE
				: items[origin->above].parent;
	if (origin->above != SWZ_INDEX_NONE)
		origin->function = items[origin->above].function;
}

static int compare_origins(const void *left, const void *right)
{
	const struct origin *a = left, *b = right;

	if (a->above == SWZ_INDEX_NONE || b->above == SWZ_INDEX_NONE)
		return (a->above == SWZ_INDEX_NONE) -
		       (b->above == SWZ_INDEX_NONE);
	return a->function < b->function ? -1 : a->function > b->function;
}

static int compare_groups(const void *left, const void *right, void *argument)
{
	const struct group *a = left, *b = right;
	const struct table *table = argument;
	int order = compare_costs(table, &a->costs, &b->costs);

	return order ? order
		     : compare_functions(table->section, a->function,
					 b->function);
}

static void add_costs(struct swz_costs *costs, const struct swz_costs *add,
		      int64_t total)
{
	costs->calls = swz_add_count(costs->calls, add->calls);
	costs->self_ns = swz_add(costs->self_ns, add->self_ns);
	costs->inclusive_ns = swz_add(costs->inclusive_ns, add->inclusive_ns);
	if (costs->inclusive_ns > total)
		costs->inclusive_ns = total;
}

static void add_to_group(const struct table *table, struct group *group,
			 uint32_t index)
{
	const struct swz_section *section = table->section;
	struct swz_costs_diff costs = costs_of(table, index);

	add_costs(&group->costs.new, &costs.new, section->report->total_ns);
	if (table->old)
		add_costs(&group->costs.old, &costs.old,
			  section->old->report->total_ns);
}

/* Sorts origins [start, end) by function and finds the groups in the order of
 * the table. Those past the root are in none. */
static struct group *find_groups(const struct table *table,
				 struct origin *origins, size_t start,
				 size_t end, size_t *count)
{
	struct group *groups = NULL;
	size_t capacity = 0;
	size_t i;

	*count = 0;
	if (end - start > 1)
		qsort(origins + start, end - start, sizeof(*origins),
		      compare_origins);
	for (i = start; i < end && origins[i].above != SWZ_INDEX_NONE; i++) {
		if (!*count ||
		    groups[*count - 1].function != origins[i].function) {
			swz_grow(&groups, &capacity, *count, sizeof(*groups));
			groups[(*count)++] = (struct group){
				.start = i, .function = origins[i].function};
		}
		groups[*count - 1].end = i + 1;
		add_to_group(table, &groups[*count - 1], origins[i].context);
	}
	if (*count > 1)
		qsort_r(groups, *count, sizeof(*groups), compare_groups,
			(void *)(uintptr_t)table);
	return groups;
}

struct level {
	struct group *groups;
	size_t count;
	size_t at;
};

static bool is_below_limit(const struct table *table, const struct group *group)
{
	return part_of(table, &group->costs) < table->least;
}

/* The tree above one group of origins, which is the first line. */
static void put_above(const struct table *table, struct origin *origins,
		      const struct group *root)
{
	struct level *levels = swz_allocate(SWZ_CONTEXT_DEPTH + 2,
					    sizeof(*levels));
	size_t depth = 0;
	size_t i;

	levels[0].groups = swz_allocate(1, sizeof(*root));
	levels[0].groups[0] = *root;
	levels[0].count = 1;
	for (;;) {
		struct level *level = &levels[depth];
		const struct group *group;

		if (level->at == level->count) {
			free(level->groups);
			if (depth-- == 0)
				break;
			continue;
		}
		group = &level->groups[level->at++];
		if (depth && is_below_limit(table, group))
			continue;
		put_row(table, &group->costs, (uint32_t)depth, group->function,
			false);
		for (i = group->start; i < group->end; i++)
			step_up(table, &origins[i]);
		depth++;
		levels[depth].groups = find_groups(table, origins, group->start,
						   group->end,
						   &levels[depth].count);
		levels[depth].at = 0;
	}
	free(levels);
}

static struct table bottom_up(const struct table *table)
{
	struct table of = *table;

	of.of_self = of.sort != SWZ_SORT_INCLUSIVE;
	if (of.sort == SWZ_SORT_DEFAULT)
		of.sort = SWZ_SORT_SELF;
	return of;
}

/* All contexts, by function. */
static struct group *collect_origins(const struct table *table,
				     struct origin **origins, size_t *count)
{
	const struct swz_contexts *contexts = table->contexts;
	size_t i;

	*origins = swz_allocate(contexts->count, sizeof(**origins));
	for (i = 0; i < contexts->count; i++)
		(*origins)[i] = (struct origin){
			.context = (uint32_t)i,
			.above = (uint32_t)i,
			.function = contexts->items[i].function};
	return find_groups(table, *origins, 0, contexts->count, count);
}

static void put_bottom_up(const struct table *table)
{
	struct table of = bottom_up(table);
	struct origin *origins;
	size_t count, shown = 0;
	struct group *groups = collect_origins(&of, &origins, &count);
	size_t i;

	put_columns(&of);
	for (i = 0; i < count; i++) {
		if (is_below_limit(&of, &groups[i]) ||
		    groups[i].function == SWZ_CATALOG_UNKNOWN)
			continue;
		if (of.options->rows && shown++ == of.options->rows)
			break;
		put_above(&of, origins, &groups[i]);
	}
	free(groups);
	free(origins);
}

/* ---- callers and callees of single functions ---- */

/* What is called from the contexts of one group, as one tree. Contexts of the
 * same function below others are theirs. */
static void merge_below(const struct swz_contexts *contexts,
			struct swz_contexts *merged,
			const struct swz_children *children,
			const struct group *group, const struct origin *origins)
{
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	uint32_t *to = swz_allocate(contexts->count, sizeof(*to));
	size_t depth = 0, i;

	swz_contexts_begin(merged, group->function, false);
	for (i = 0; i < contexts->count; i++)
		to[i] = SWZ_INDEX_NONE;
	for (i = group->start; i < group->end; i++)
		to[origins[i].context] = SWZ_CONTEXT_ROOT;
	for (i = group->start; i < group->end; i++) {
		uint32_t above = contexts->items[origins[i].context].parent;

		/* (the root is above itself) */
		while (above != SWZ_CONTEXT_ROOT && to[above])
			above = contexts->items[above].parent;
		if (to[above] == SWZ_CONTEXT_ROOT &&
		    above != origins[i].context)
			continue;
		stack[depth++] = origins[i].context;
		while (depth > 0) {
			uint32_t at = stack[--depth], j;

			if (at != origins[i].context)
				to[at] = swz_contexts_child(
					merged, to[contexts->items[at].parent],
					contexts->items[at].function,
					SWZ_PLACE_UNKNOWN);
			swz_context_merge(&merged->items[to[at]],
					  &contexts->items[at]);
			for (j = children->start[at];
			     j < children->start[at + 1]; j++)
				stack[depth++] = children->items[j];
		}
	}
	swz_contexts_sum(merged);
	free(stack);
	free(to);
}

static void put_of(const struct table *table, const char *what,
		   const struct group *group)
{
	fprintf(table->stream, "\n# %s of ", what);
	swz_put_text(table->stream,
		     table->section->catalog->functions[group->function].name);
	putc('\n', table->stream);
}

/* Both trees of a comparison are made in the same way from contexts of the same
 * shape, so they have the same shape, too. */
static void put_relatives_of(const struct table *table, struct group *group,
			     const struct swz_children *children,
			     struct origin *origins)
{
	struct swz_contexts merged, old = {0};
	struct swz_context *root;
	struct table of = *table;

	merge_below(table->contexts, &merged, children, group, origins);
	root = &merged.items[SWZ_CONTEXT_ROOT];
	root->calls = group->costs.new.calls;
	group->costs.new.inclusive_ns = root->inclusive_ns;
	of.contexts = &merged;
	if (table->old) {
		merge_below(table->old, &old, children, group, origins);
		root = &old.items[SWZ_CONTEXT_ROOT];
		root->calls = group->costs.old.calls;
		group->costs.old.inclusive_ns = root->inclusive_ns;
		of.old = &old;
	}
	put_of(table, "callers", group);
	put_columns(table);
	put_above(table, origins, group);
	put_of(table, "callees", group);
	put_top_down(&of);
	swz_contexts_free(&merged);
	swz_contexts_free(&old);
}

static void put_relatives(const struct table *table)
{
	struct table of = *table;
	const struct swz_catalog_function *functions =
		table->section->catalog->functions;
	struct swz_children children;
	struct origin *origins;
	struct group *groups;
	size_t count, i;

	if (of.sort == SWZ_SORT_DEFAULT)
		of.sort = SWZ_SORT_INCLUSIVE;
	of.of_self = false;
	groups = collect_origins(&of, &origins, &count);
	swz_children_find(&children, of.contexts, NULL, NULL);
	for (i = 0; i < count; i++) {
		if (swz_patterns_match(&of.options->filters,
				       functions[groups[i].function].name))
			put_relatives_of(&of, &groups[i], &children, origins);
	}
	swz_children_free(&children);
	free(groups);
	free(origins);
}

/* The columns are as wide as the report's figures need: what is there of a
 * function in several contexts is not more. */
static void compare(struct table *table)
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
	struct table table = {
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
		put_relatives(&table);
	else if (options->bottom_up)
		put_bottom_up(&table);
	else
		put_top_down(&table);
}
