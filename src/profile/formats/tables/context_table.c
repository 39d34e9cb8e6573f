/* Trees for people and for awk: each line is a row of a table, and the names
 * are indented by depth. The tree goes down from the root, up from each
 * function, or both ways from the functions that were asked for. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"

/* --- rows ---------------------------------------------------------------- */

/* The rows of context_table.c: what is in them, and their order. */

struct swz_context_table {
	FILE *stream;
	const struct swz_section *section;
	const struct swz_table_options *options;
	const struct swz_contexts *contexts;
	const struct swz_contexts *old; /* in a comparison; otherwise NULL */
	struct swz_diff_widths widths;  /* the same */
	struct swz_cells *cells;        /* for people; otherwise NULL */
	enum swz_sort sort;
	int64_t total;
	uint64_t least; /* what has less is left out */
	bool of_self;   /* the share is of the self time, otherwise of the
			 * inclusive time */
};

#define MAX_INDENT 100u /* levels; a longer path says how long it is */

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int context_compare_functions(const struct swz_section *section,
				     uint32_t a, uint32_t b)
{
	const struct swz_catalog_function *functions =
		section->catalog->functions;
	int order = strcmp(functions[a].name, functions[b].name);

	if (!order)
		order = strcmp(swz_module_name(section, a),
			       swz_module_name(section, b));
	return order ? order : a < b ? -1 : a > b;
}

/* Beside what the share is of. */
static int64_t waiting_of(const struct swz_context_table *table,
			  const struct swz_costs *costs)
{
	return table->of_self ? costs->self_waiting_ns
			      : costs->inclusive_waiting_ns;
}

/* For sorting: by the table's key, the most first (of what is not compared, old
 * is zero); functions by their names. */
static int context_compare_costs(const struct swz_context_table *table,
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
	if (table->sort == SWZ_SORT_SELF || table->sort == SWZ_SORT_CPU)
		return by_self ? by_self : by_inclusive;
	if (table->sort == SWZ_SORT_WAITING)
		return descending((uint64_t)waiting_of(table, &a->new),
				  (uint64_t)waiting_of(table, &b->new));
	return by_inclusive ? by_inclusive : by_self;
}

static struct swz_costs costs_of_one(const struct swz_context *context)
{
	return (struct swz_costs){
		.calls = context->calls,
		.self_ns = context->self_ns,
		.inclusive_ns = context->inclusive_ns,
		.jumps = context->jumps,
		.self_waiting_ns = context->self_waiting_ns,
		.inclusive_waiting_ns = context->inclusive_waiting_ns};
}

/* The costs of the context with this index. */
static struct swz_costs_diff context_costs(
	const struct swz_context_table *table, uint32_t index)
{
	struct swz_costs_diff costs = {
		.new = costs_of_one(&table->contexts->items[index])};

	if (table->old)
		costs.old = costs_of_one(&table->old->items[index]);
	return costs;
}

static void put_titles(const struct swz_context_table *table)
{
	struct swz_cells *cells = table->cells;

	if (table->old) {
		swz_put_change_titles(cells);
	} else {
		swz_put_share_title(cells, table->of_self ? "self%" : "incl%");
		swz_put_time_title(cells, table->of_self ? "self" : "incl");
		if (table->section->report->knows_waiting)
			swz_put_time_title(cells, "waiting");
		swz_put_time_title(cells, table->of_self ? "incl" : "self");
		swz_put_count_title(cells, cells->counted);
	}
	swz_put_name_titles(cells, "function", "module");
}

static void context_put_columns(const struct swz_context_table *table)
{
	if (table->cells) {
		put_titles(table);
		return;
	}
	if (table->old) {
		swz_diff_put_columns(table->stream, &table->widths,
				     swz_counted_title(table->section), false,
				     false);
		return;
	}
	fprintf(table->stream, "%12s %15s %15s %7s",
		swz_counted_title(table->section), "self", "incl",
		table->of_self ? "self%" : "incl%");
	if (swz_shows_waiting(table->section->report, table->options))
		fprintf(table->stream, " %15s %15s", "self-wait", "incl-wait");
	fputs("  function  module\n", table->stream);
}

/* How much there is of it, by what the share is of. */
static uint64_t context_weight(const struct swz_context_table *table,
			       const struct swz_costs_diff *costs)
{
	return table->of_self ? swz_diff_self(costs)
			      : swz_diff_inclusive(costs);
}

static struct swz_costs_diff diff_of(const struct swz_context_table *table,
				     const struct swz_costs_diff *costs,
				     uint32_t function)
{
	const struct swz_report *report = table->section->report;
	const struct swz_report *old = table->section->old->report;
	struct swz_costs_diff diff = *costs;

	diff.uncounted = !swz_is_counted_there(report, function,
					       costs->new.calls) &&
			 !swz_is_counted_there(old, function, costs->old.calls);
	swz_diff_find_bounds(&diff, table->section, function);
	return diff;
}

static void put_costs(const struct swz_context_table *table,
		      const struct swz_costs_diff *costs, uint32_t function)
{
	const struct swz_report *report = table->section->report;
	double share = table->total
			       ? 100.0 * (double)context_weight(table, costs) /
					 (double)table->total
			       : 0;

	if (table->old) {
		struct swz_costs_diff both = diff_of(table, costs, function);

		swz_diff_put_costs(table->stream, &table->widths, &both);
		return;
	}
	swz_put_plain_count(
		table->stream, 12, costs->new.calls,
		swz_is_counted_there(report, function, costs->new.calls));
	putc(' ', table->stream);
	swz_put_plain_time(
		table->stream, 15, costs->new.self_ns,
		swz_plain_bound(report, function, costs->new.self_ns));
	putc(' ', table->stream);
	swz_put_plain_time(
		table->stream, 15, costs->new.inclusive_ns,
		swz_plain_bound(report, function, costs->new.inclusive_ns));
	if (report->without_times)
		fprintf(table->stream, " %7s", "-");
	else
		fprintf(table->stream, " %7.2f", share);
	if (swz_shows_waiting(report, table->options))
		fprintf(table->stream, " %15" PRId64 " %15" PRId64,
			costs->new.self_waiting_ns,
			costs->new.inclusive_waiting_ns);
}

static void put_cells(const struct swz_context_table *table,
		      const struct swz_costs_diff *costs, uint32_t function)
{
	const struct swz_report *report = table->section->report;
	struct swz_cells *cells = table->cells;
	int64_t first, second;
	int64_t self = costs->new.self_ns, inclusive = costs->new.inclusive_ns;

	if (table->old) {
		struct swz_costs_diff both = diff_of(table, costs, function);

		swz_put_changes(cells, &both);
		return;
	}
	first = table->of_self ? self : inclusive;
	second = table->of_self ? inclusive : self;
	swz_put_share_below(cells, first,
			    swz_bound_of(report, function, first));
	swz_put_time_below(cells, SWZ_COLOUR_NONE, first,
			   swz_bound_of(report, function, first));
	if (report->knows_waiting)
		swz_put_time(cells, SWZ_COLOUR_DIM,
			     waiting_of(table, &costs->new));
	swz_put_time_below(cells, SWZ_COLOUR_NONE, second,
			   swz_bound_of(report, function, second));
	swz_put_count_or_none(
		cells, costs->new.calls,
		swz_is_counted_there(report, function, costs->new.calls));
}

/* Tells how many calls of a context in a tree of counts came through a jump. */
static const char *jumps_of(const struct swz_costs *costs, uint32_t depth,
			    char text[48])
{
	text[0] = '\0';
	if (depth && costs->jumps && costs->jumps == costs->calls)
		return "  (via jump)";
	if (depth && costs->jumps)
		snprintf(text, 48, "  (%" PRIu64 " via jump)", costs->jumps);
	return text;
}

/* A function that is called, and for --offsets the place. */
struct row {
	uint32_t depth;
	uint32_t function;
	uint32_t place;  /* in it, where it calls the row above */
	uint32_t caller; /* of this row, and where in it; or SWZ_PLACE_UNKNOWN
			  */
	uint32_t called_at;
	bool folded;
	bool caused;
};

/* "main+0xe8/0x470", or the name alone; to be freed. */
static char *place_text(const struct swz_context_table *table,
			uint32_t function, uint32_t place)
{
	const struct swz_catalog_function *of =
		&table->section->catalog->functions[function];

	if (place == SWZ_PLACE_UNKNOWN)
		return swz_duplicate(of->name);
	return swz_print("%s+0x%" PRIx32 "/0x%" PRIx32, of->name, place - 1,
			 of->size);
}

/* To be freed. */
static char *remark_of(const struct swz_context_table *table,
		       const struct swz_costs_diff *costs,
		       const struct row *row)
{
	const char *folded = row->folded   ? "  (folded)"
			     : row->caused ? "  (in another thread)"
					   : "";
	const char *more;
	char jumps[48], *caller, *text;

	if (table->old)
		more = swz_diff_remark(costs);
	else
		more = jumps_of(&costs->new, row->depth, jumps);
	if (table->cells && row->folded)
		more = "";
	if (row->called_at == SWZ_PLACE_UNKNOWN)
		return swz_print("%s%s", folded, more);
	caller = place_text(table, row->caller, row->called_at);
	text = swz_print("  from %s%s%s", caller, folded, more);
	free(caller);
	return text;
}

static void context_put_row(const struct swz_context_table *table,
			    const struct swz_costs_diff *costs,
			    const struct row *row)
{
	uint32_t function = row->function, depth = row->depth;
	char *name = place_text(table, function, row->place);
	char *remark = remark_of(table, costs, row);

	if (table->cells) {
		put_cells(table, costs, function);
		swz_put_names(table->cells, depth, name,
			      swz_module_name(table->section, function),
			      remark);
		free(name);
		free(remark);
		return;
	}
	put_costs(table, costs, function);
	fprintf(table->stream, "  %*s",
		(int)(2 * (depth < MAX_INDENT ? depth : MAX_INDENT)), "");
	if (depth > MAX_INDENT)
		fprintf(table->stream, "(%" PRIu32 ") ", depth);
	swz_put_text(table->stream, name);
	fputs("  ", table->stream);
	swz_put_text(table->stream, swz_module_name(table->section, function));
	swz_put_text(table->stream, remark);
	putc('\n', table->stream);
	free(name);
	free(remark);
}

/* --- from the root ------------------------------------------------------- */

/* The tree from the root. */

static int compare_contexts(const void *left, const void *right, void *argument)
{
	const struct swz_context_table *table = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	struct swz_costs_diff x = context_costs(table, a),
			      y = context_costs(table, b);
	int order = context_compare_costs(table, &x, &y);

	return order ? order
		     : context_compare_functions(
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
		struct swz_costs_diff costs = context_costs(table, i);
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
		struct swz_costs_diff costs = context_costs(table, at);

		const struct row row = {
			.depth = (uint32_t)depth,
			.function = items[at].function,
			.caller = items[items[at].parent].function,
			.called_at = table->contexts->by_offset
					     ? items[at].place
					     : SWZ_PLACE_UNKNOWN,
			.folded = items[at].folded,
			.caused = items[at].caused};

		context_put_row(table, &costs, &row);
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

/* The trees: from the root, from each function upwards
 * and both for the functions that were asked for. */
static void context_put_top_down(const struct swz_context_table *table)
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
	context_put_columns(&of);
	put_below(&of, &children, weights, SWZ_CONTEXT_ROOT);
	swz_children_free(&children);
	free(weights);
}

/* --- from each function upwards ------------------------------------------ */

/* The bottom-up tree is not kept anywhere: it may be larger than the contexts
 * by their depth. An array has the contexts of one function; each step upwards
 * sorts a part of it by the caller and goes into each caller's part. */

/* A context of the function that a bottom-up tree is of, and the one above it
 * that the tree has come to. */
struct origin {
	uint32_t context;
	uint32_t above;    /* SWZ_INDEX_NONE: past the root */
	uint32_t function; /* of the one above */
	uint32_t place;    /* --offsets: in that, of the call of the last */
};

/* Some of the origins, all at the same function. */
struct group {
	size_t start;
	size_t end;
	struct swz_costs_diff costs;
	uint32_t function;
	uint32_t place;
};

static void step_up(const struct swz_context_table *table,
		    struct origin *origin)
{
	const struct swz_context *items = table->contexts->items;

	const struct swz_report *report = table->section->report;
	bool counts = report->without_times ||
		      (report->calls_by_edge && items[origin->context].folded);
	uint32_t above = origin->above;

	origin->place = table->contexts->by_offset ? items[above].place
						   : SWZ_PLACE_UNKNOWN;
	origin->above = above == SWZ_CONTEXT_ROOT ? SWZ_INDEX_NONE
						  : items[above].parent;
	/* of counted calls the caller is known, and nobody above it */
	if (counts && above != origin->context)
		origin->above = SWZ_INDEX_NONE;
	if (origin->above != SWZ_INDEX_NONE)
		origin->function = items[origin->above].function;
}

static int compare_origins(const void *left, const void *right)
{
	const struct origin *a = left, *b = right;

	if (a->above == SWZ_INDEX_NONE || b->above == SWZ_INDEX_NONE)
		return (a->above == SWZ_INDEX_NONE) -
		       (b->above == SWZ_INDEX_NONE);
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int compare_groups(const void *left, const void *right, void *argument)
{
	const struct group *a = left, *b = right;
	const struct swz_context_table *table = argument;
	int order = context_compare_costs(table, &a->costs, &b->costs);

	if (!order && a->function == b->function)
		return a->place < b->place ? -1 : a->place > b->place;
	return order ? order
		     : context_compare_functions(table->section, a->function,
						 b->function);
}

static void add_costs(struct swz_costs *costs, const struct swz_costs *add,
		      int64_t total)
{
	costs->calls = swz_add_count(costs->calls, add->calls);
	costs->jumps = swz_add_count(costs->jumps, add->jumps);
	costs->self_ns = swz_add(costs->self_ns, add->self_ns);
	costs->inclusive_ns = swz_add(costs->inclusive_ns, add->inclusive_ns);
	costs->self_waiting_ns = swz_add(costs->self_waiting_ns,
					 add->self_waiting_ns);
	costs->inclusive_waiting_ns = swz_add(costs->inclusive_waiting_ns,
					      add->inclusive_waiting_ns);
	if (costs->inclusive_ns > total)
		costs->inclusive_ns = total;
}

static void add_to_group(const struct swz_context_table *table,
			 struct group *group, uint32_t index)
{
	const struct swz_section *section = table->section;
	struct swz_costs_diff costs = context_costs(table, index);

	/* it is in that of the context above */
	if (!table->contexts->items[index].topmost)
		costs.new.inclusive_ns = costs.old.inclusive_ns =
			costs.new.inclusive_waiting_ns = 0;
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
		    groups[*count - 1].function != origins[i].function ||
		    groups[*count - 1].place != origins[i].place) {
			swz_grow(&groups, &capacity, *count, sizeof(*groups));
			groups[(*count)++] = (struct group){
				.start = i,
				.function = origins[i].function,
				.place = origins[i].place};
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
	       !costs->new.inclusive_waiting_ns && !costs->new.inclusive_ns &&
	       !costs->old.calls && !costs->old.self_ns &&
	       !costs->old.inclusive_ns;
}

static bool is_below_limit(const struct swz_context_table *table,
			   const struct group *group)
{
	return context_weight(table, &group->costs) < table->least;
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
		struct row row;

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
		row = (struct row){.depth = (uint32_t)depth,
				   .function = group->function,
				   .place = group->place};
		context_put_row(table, &group->costs, &row);
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

static void context_put_bottom_up(const struct swz_context_table *table)
{
	struct swz_context_table of = bottom_up(table);
	struct origin *origins;
	size_t count, shown = 0;
	struct group *groups = collect_origins(&of, &origins, &count);
	size_t i;

	context_put_columns(&of);
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

/* Merges what is called from the contexts of one group into one tree. BY_EDGE:
 * counts of edges are those of its calls. */
static void merge_below(const struct swz_contexts *contexts, bool by_edge,
			struct swz_contexts *merged,
			const struct swz_children *children,
			const struct group *group, const struct origin *origins)
{
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	uint32_t *to = swz_allocate(contexts->count, sizeof(*to));
	size_t depth = 0, i;

	swz_contexts_begin(merged, group->function, contexts->by_place);
	merged->by_offset = contexts->by_offset;
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
					contexts->items[at].place,
					contexts->items[at].folded && !by_edge);
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

	merge_below(table->contexts, table->section->report->calls_by_edge,
		    &merged, children, group, origins);
	root = &merged.items[SWZ_CONTEXT_ROOT];
	root->calls = group->costs.new.calls;
	group->costs.new.inclusive_ns = root->inclusive_ns;
	of.contexts = &merged;
	if (table->old) {
		merge_below(table->old, false, &old, children, group, origins);
		root = &old.items[SWZ_CONTEXT_ROOT];
		root->calls = group->costs.old.calls;
		group->costs.old.inclusive_ns = root->inclusive_ns;
		of.old = &old;
	}
	put_of(table, "callers", group);
	context_put_columns(table);
	put_above(table, origins, group);
	put_of(table, "callees", group);
	context_put_top_down(&of);
	swz_contexts_free(&merged);
	swz_contexts_free(&old);
}

static void context_put_relatives(const struct swz_context_table *table)
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

/* --- the table ----------------------------------------------------------- */

/* Trees for people and for awk: each line is a row of a table, as in table.c,
 * and the names are indented.
 *
 * In a comparison each context has two sets of costs, and how much there is of
 * it is how much they differ. */

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
	table->widths.bounds = reports[0]->joined || reports[1]->joined;
	for (side = 0; side < 2; side++)
		for (i = 0; i < reports[side]->function_capacity; i++) {
			struct swz_costs costs = {
				.calls = reports[side]->functions[i].calls,
				.self_ns = reports[side]->functions[i].self_ns,
				.inclusive_ns = reports[side]->total_ns};

			swz_diff_widen(&table->widths, &costs);
		}
}

static uint64_t most_calls(const struct swz_section *section)
{
	uint64_t most = section->old ? most_calls(section->old) : 0;
	size_t i;

	for (i = 0; i < section->report->function_capacity; i++)
		if (section->report->functions[i].calls > most)
			most = section->report->functions[i].calls;
	return most;
}

/* Where whole contexts are not known: each function, and what it calls. */
static void pair_up(const struct swz_contexts *contexts,
		    struct swz_contexts *pairs)
{
	const struct swz_context *items = contexts->items;
	uint32_t i, at, caller;

	swz_contexts_begin(pairs, items[SWZ_CONTEXT_ROOT].function,
			   contexts->by_place);
	pairs->by_offset = contexts->by_offset;
	for (i = 1; i < contexts->count; i++) {
		if (!items[i].calls)
			continue;
		at = swz_contexts_child(pairs, SWZ_CONTEXT_ROOT,
					items[i].function, SWZ_PLACE_UNKNOWN,
					false);
		swz_context_merge(&pairs->items[at], &items[i]);
		pairs->items[at].jumps = 0; /* it is of the call alone */
		caller = items[items[i].parent].function;
		if (!SWZ_CATALOG_IS_REAL(caller))
			continue;
		at = swz_contexts_child(pairs, SWZ_CONTEXT_ROOT, caller,
					SWZ_PLACE_UNKNOWN, false);
		at = swz_contexts_child(pairs, at, items[i].function,
					items[i].place, false);
		swz_context_merge(&pairs->items[at], &items[i]);
	}
	swz_contexts_sum(pairs);
}

static void put_contexts(struct swz_context_table *table)
{
	const struct swz_contexts *whole = table->contexts;
	struct swz_contexts pairs = {0};

	if (table->options->filters.count) {
		context_put_relatives(table);
		return;
	}
	if (table->options->bottom_up) {
		context_put_bottom_up(table);
		return;
	}
	if (table->section->report->without_times) {
		pair_up(table->contexts, &pairs);
		table->contexts = &pairs;
	}
	context_put_top_down(table);
	table->contexts = whole;
	swz_contexts_free(&pairs);
}

void swz_write_tree(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	struct swz_cells cells;
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
		table.least = (uint64_t)swz_least_share(options->percent_limit,
							table.total);
	if (section->report->calls_by_edge && !table.least)
		table.least = 1; /* counts of edges are no contexts */
	if (options->style) {
		swz_cells_begin(&cells, stream, options->style,
				section->report->waiting_ns > table.total
					? section->report->waiting_ns
					: table.total,
				most_calls(section),
				swz_counted_title(section));
		cells.total = table.total;
		swz_cells_have_bound(&cells, section->report->bound_ns);
		if (section->old)
			swz_cells_have_bound(&cells,
					     section->old->report->bound_ns);
		table.cells = &cells;
		swz_put_summary(stream, options->style, section);
	} else if (section->old)
		swz_diff_put_heading(stream, section);
	else
		swz_put_heading(stream, section);
	if (section->report->without_times) {
		fputs(options->style
			      ? "Whole contexts are not known: calls by "
				"function and caller.\n\n"
			      : "# whole contexts are not known: calls by "
				"function and caller\n",
		      stream);
		if (table.sort == SWZ_SORT_DEFAULT)
			table.sort = SWZ_SORT_CALLS;
	}
	put_contexts(&table);
}
