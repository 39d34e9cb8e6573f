/* The bottom-up tree is not kept anywhere: it may be larger than the contexts
 * by their depth. An array has the contexts of one function; each step upwards
 * sorts a part of it by the caller and goes into each caller's part. */

#include "profile/formats/context_rows.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

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

static void step_up(const struct swz_context_table *table,
		    struct origin *origin)
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
	const struct swz_context_table *table = argument;
	int order = swz_context_compare_costs(table, &a->costs, &b->costs);

	return order ? order
		     : swz_context_compare_functions(table->section,
						     a->function, b->function);
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

static void add_to_group(const struct swz_context_table *table,
			 struct group *group, uint32_t index)
{
	const struct swz_section *section = table->section;
	struct swz_costs_diff costs = swz_context_costs(table, index);

	/* it is in that of the context above */
	if (!table->contexts->items[index].topmost)
		costs.new.inclusive_ns = costs.old.inclusive_ns = 0;
	add_costs(&group->costs.new, &costs.new, section->report->total_ns);
	if (table->old)
		add_costs(&group->costs.old, &costs.old,
			  section->old->report->total_ns);
}

/* Sorts origins [start, end) by function and finds the groups in the order of
 * the table. Those past the root are in none. */
static struct group *find_groups(const struct swz_context_table *table,
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

/* Samples above a recursion count once, in the outermost call. The way through
 * the others has nothing to show: no time and, as nobody counted, no calls. */
static bool is_empty(const struct swz_costs_diff *costs)
{
	return !costs->new.calls && !costs->new.self_ns &&
	       !costs->new.inclusive_ns && !costs->old.calls &&
	       !costs->old.self_ns && !costs->old.inclusive_ns;
}

static bool is_below_limit(const struct swz_context_table *table,
			   const struct group *group)
{
	return swz_context_weight(table, &group->costs) < table->least;
}

/* The tree above one group of origins, which is the first line. */
static void put_above(const struct swz_context_table *table,
		      struct origin *origins, const struct group *root)
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
		if (depth &&
		    (is_below_limit(table, group) || is_empty(&group->costs)))
			continue;
		swz_context_put_row(table, &group->costs, (uint32_t)depth,
				    group->function, false);
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

static struct swz_context_table bottom_up(const struct swz_context_table *table)
{
	struct swz_context_table of = *table;

	of.of_self = of.sort != SWZ_SORT_INCLUSIVE;
	if (of.sort == SWZ_SORT_DEFAULT)
		of.sort = SWZ_SORT_SELF;
	return of;
}

/* All contexts, by function. */
static struct group *collect_origins(const struct swz_context_table *table,
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

void swz_context_put_bottom_up(const struct swz_context_table *table)
{
	struct swz_context_table of = bottom_up(table);
	struct origin *origins;
	size_t count, shown = 0;
	struct group *groups = collect_origins(&of, &origins, &count);
	size_t i;

	swz_context_put_columns(&of);
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

/* What is called from the contexts of one group, as one tree. */
static void merge_below(const struct swz_contexts *contexts,
			struct swz_contexts *merged,
			const struct swz_children *children,
			const struct group *group, const struct origin *origins)
{
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	uint32_t *to = swz_allocate(contexts->count, sizeof(*to));
	size_t depth = 0, i;

	swz_contexts_begin(merged, group->function, false);
	for (i = group->start; i < group->end; i++) {
		if (!contexts->items[origins[i].context].topmost)
			continue; /* it is below another one */
		to[origins[i].context] = SWZ_CONTEXT_ROOT;
		stack[depth++] = origins[i].context;
		while (depth > 0) {
			uint32_t at = stack[--depth], j;

			if (at != origins[i].context)
				to[at] = swz_contexts_child(
					merged, to[contexts->items[at].parent],
					contexts->items[at].function,
					SWZ_PLACE_UNKNOWN,
					contexts->items[at].folded);
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

static void put_of(const struct swz_context_table *table, const char *what,
		   const struct group *group)
{
	const char *name =
		table->section->catalog->functions[group->function].name;

	if (table->cells) {
		swz_put_heading_of(table->cells, what, name);
		return;
	}
	fprintf(table->stream, "\n# %s of ", what);
	swz_put_text(table->stream, name);
	putc('\n', table->stream);
}

/* Both trees of a comparison are made in the same way from contexts of the same
 * shape, so they have the same shape, too. */
static void put_relatives_of(const struct swz_context_table *table,
			     struct group *group,
			     const struct swz_children *children,
			     struct origin *origins)
{
	struct swz_contexts merged, old = {0};
	struct swz_context *root;
	struct swz_context_table of = *table;

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
	swz_context_put_columns(table);
	put_above(table, origins, group);
	put_of(table, "callees", group);
	swz_context_put_top_down(&of);
	swz_contexts_free(&merged);
	swz_contexts_free(&old);
}

void swz_context_put_relatives(const struct swz_context_table *table)
{
	struct swz_context_table of = *table;
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
				       of.section->catalog, groups[i].function,
				       NULL))
			put_relatives_of(&of, &groups[i], &children, origins);
	}
	swz_children_free(&children);
	free(groups);
	free(origins);
}
