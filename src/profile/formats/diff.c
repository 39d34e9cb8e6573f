/* Both sides get the same shape, so that whoever writes them goes through both
 * by one index.
 *
 * Calls of one function by another are matched by their places: if there are as
 * many in both, in their order, since a change further up moves all of them;
 * otherwise those that have the same line. */

#include "profile/formats/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

/* ---- functions ---- */

static void extend_functions(struct swz_report *report, size_t count)
{
	if (report->function_capacity >= count)
		return;
	report->functions = swz_reallocate(report->functions, count,
					   sizeof(*report->functions));
	memset(report->functions + report->function_capacity, 0,
	       (count - report->function_capacity) *
		       sizeof(*report->functions));
	report->function_capacity = count;
}

/* ---- edges ---- */

/* The edges of a report that are still to be put in. */
struct edges {
	struct swz_report_edge *items;
	size_t count;
	size_t at;
	size_t end; /* of those with the same caller and callee */
};

struct aligning {
	const struct swz_catalog *catalog;
	struct edges new, old;
	struct swz_report_edge *new_out, *old_out;
	size_t count;
	size_t new_capacity, old_capacity;
};

static int compare_pairs(const struct swz_report_edge *a,
			 const struct swz_report_edge *b)
{
	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int compare_places(const void *left, const void *right, void *argument)
{
	const struct swz_report_edge *a = left, *b = right;
	const struct swz_catalog *catalog = argument;
	const struct swz_catalog_place *x = &catalog->places[a->place];
	const struct swz_catalog_place *y = &catalog->places[b->place];
	int order = 0;

	/* (the program may have been built in another directory) */
	if (x->file && y->file)
		order = strcmp(swz_base_name(x->file), swz_base_name(y->file));
	else
		order = (x->file != NULL) - (y->file != NULL);
	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->outer_line != y->outer_line)
		return x->outer_line < y->outer_line ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Finds those with the caller and the callee of the first one, and puts them in
 * the order of their places. */
static void find_end(struct edges *edges, const struct swz_catalog *catalog)
{
	edges->end = edges->at;
	while (edges->end < edges->count &&
	       compare_pairs(&edges->items[edges->at],
			     &edges->items[edges->end]) == 0)
		edges->end++;
	if (edges->end - edges->at > 1)
		qsort_r(&edges->items[edges->at], edges->end - edges->at,
			sizeof(*edges->items), compare_places,
			(void *)(uintptr_t)catalog);
}

/* Either may be NULL. */
static void put_edges(struct aligning *a, const struct swz_report_edge *new,
		      const struct swz_report_edge *old)
{
	const struct swz_report_edge *key = new ? new : old;
	const struct swz_report_edge none = {.caller = key->caller,
					     .callee = key->callee,
					     .place = key->place};

	swz_grow(&a->new_out, &a->new_capacity, a->count, sizeof(*new));
	swz_grow(&a->old_out, &a->old_capacity, a->count, sizeof(*old));
	a->new_out[a->count] = new ? *new : none;
	a->old_out[a->count] = old ? *old : none;
	a->old_out[a->count].place = key->place;
	a->count++;
}

static bool is_same_line(const struct swz_catalog *catalog, uint32_t a,
			 uint32_t b)
{
	const struct swz_catalog_place *x = &catalog->places[a];
	const struct swz_catalog_place *y = &catalog->places[b];

	if (!x->file || !y->file)
		return x->file == y->file;
	return x->line == y->line &&
	       strcmp(swz_base_name(x->file), swz_base_name(y->file)) == 0;
}

/* Puts in the edges between two functions. */
static void put_group(struct aligning *a)
{
	struct edges *new = &a->new, *old = &a->old;
	bool in_order = new->end - new->at == old->end - old->at;

	for (;;) {
		const struct swz_report_edge *x = NULL, *y = NULL;

		if (new->at < new->end)
			x = &new->items[new->at];
		if (old->at < old->end)
			y = &old->items[old->at];
		if (!x && !y)
			break;
		if (x && y && !in_order &&
		    !is_same_line(a->catalog, x->place, y->place)) {
			if (compare_places(x, y,
					   (void *)(uintptr_t)a->catalog) < 0)
				y = NULL;
			else
				x = NULL;
		}
		put_edges(a, x, y);
		new->at += x != NULL;
		old->at += y != NULL;
	}
}

static void align_edges(const struct swz_catalog *catalog,
			struct swz_report *new, struct swz_report *old)
{
	struct aligning a = {
		.catalog = catalog,
		.new = {.items = new->edges, .count = new->edge_count},
		.old = {.items = old->edges, .count = old->edge_count},
	};

	while (a.new.at < a.new.count || a.old.at < a.old.count) {
		int order = a.new.at == a.new.count ? 1
			    : a.old.at == a.old.count
				    ? -1
				    : compare_pairs(&a.new.items[a.new.at],
						    &a.old.items[a.old.at]);

		a.new.end = a.new.at;
		a.old.end = a.old.at;
		if (order <= 0)
			find_end(&a.new, catalog);
		if (order >= 0)
			find_end(&a.old, catalog);
		put_group(&a);
	}
	free(new->edges);
	free(old->edges);
	new->edges = a.new_out;
	old->edges = a.old_out;
	new->edge_count = old->edge_count = a.count;
	new->edge_capacity = a.new_capacity;
	old->edge_capacity = a.old_capacity;
}

void swz_diff_align_reports(const struct swz_catalog *catalog,
			    struct swz_report *new, struct swz_report *old)
{
	extend_functions(new, old->function_capacity);
	extend_functions(old, new->function_capacity);
	align_edges(catalog, new, old);
}

/* ---- contexts ---- */

void swz_diff_align_contexts(struct swz_contexts *new, struct swz_contexts *old)
{
	uint32_t *to = swz_allocate(old->count, sizeof(*to));
	struct swz_context *items;
	size_t i;

	swz_map_free(&old->index); /* it is large, and of no use any more */
	/* parents come before children */
	for (i = 1; i < old->count; i++)
		to[i] = swz_contexts_child(
			new, to[old->items[i].parent], old->items[i].function,
			old->items[i].place, old->items[i].folded);
	items = swz_allocate(new->count, sizeof(*items));
	for (i = 0; i < new->count; i++)
		items[i] = (struct swz_context){
			.function = new->items[i].function,
			.parent = new->items[i].parent,
			.place = new->items[i].place,
			.folded = new->items[i].folded,
			.depth = new->items[i].depth};
	for (i = 0; i < old->count; i++)
		swz_context_merge(&items[to[i]], &old->items[i]);
	free(to);
	swz_contexts_free(old);
	old->items = items;
	old->count = old->capacity = new->count;
	swz_contexts_sum(new);
	swz_contexts_sum(old);
}

/* ---- costs ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

uint64_t swz_diff_self(const struct swz_costs_diff *costs)
{
	return distance((uint64_t)costs->new.self_ns,
			(uint64_t)costs->old.self_ns);
}

uint64_t swz_diff_inclusive(const struct swz_costs_diff *costs)
{
	return distance((uint64_t)costs->new.inclusive_ns,
			(uint64_t)costs->old.inclusive_ns);
}

uint64_t swz_diff_calls(const struct swz_costs_diff *costs)
{
	return distance(costs->new.calls, costs->old.calls);
}

/* ---- tables ---- */

static int digits(uint64_t value)
{
	int count = 1;

	for (; value >= 10; value /= 10)
		count++;
	return count;
}

static void widen(int *width, uint64_t value)
{
	if (digits(value) > *width)
		*width = digits(value);
}

void swz_diff_widen(struct swz_diff_widths *widths,
		    const struct swz_costs *costs)
{
	widen(&widths->calls, costs->calls);
	widen(&widths->ns, (uint64_t)costs->self_ns);
	widen(&widths->ns, (uint64_t)costs->inclusive_ns);
}

/* How wide the widest column of that kind is: there is a sign, and its name. */
static int wide(int width)
{
	return width < 9 ? 10 : width + 1;
}

void swz_diff_put_columns(FILE *stream, const struct swz_diff_widths *widths,
			  const char *counted, bool sampled, bool noise)
{
	int calls = wide(widths->calls), ns = wide(widths->ns);
	static const char *const sides[] = {"old", "new", "diff"};
	size_t i;

	for (i = 0; i < 3; i++)
		fprintf(stream, "%s%*s.%s", i ? " " : "",
			calls - (int)strlen(sides[i]) - 1, counted, sides[i]);

	fprintf(stream, " %*s %*s %*s %9s %*s %*s %*s %9s", ns, "self.old", ns,
		"self.new", ns, "self.diff", "self.%", ns, "incl.old", ns,
		"incl.new", ns, "incl.diff", "incl.%");
	if (sampled)
		fprintf(stream, " %13s", "+/-");
	if (noise)
		fprintf(stream, " %*s %*s %*s", calls < 11 ? 11 : calls,
			"calls.noise", ns, "self.noise", ns, "incl.noise");
	fputs("  function  module\n", stream);
}

void swz_diff_put_noise(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_diff_noise *noise)
{
	int calls = wide(widths->calls), ns = wide(widths->ns);

	fprintf(stream, " %*" PRIu64 " %*" PRIu64 " %*" PRIu64,
		calls < 11 ? 11 : calls, noise->calls, ns, noise->self_ns, ns,
		noise->inclusive_ns);
}

static void put_difference(FILE *stream, int width, uint64_t old, uint64_t new)
{
	char text[24];

	snprintf(text, sizeof(text), "%s%" PRIu64,
		 new > old   ? "+"
		 : new < old ? "-"
			     : "",
		 distance(new, old));
	fprintf(stream, " %*s", width, text);
}

static void put_triple(FILE *stream, int width, uint64_t old, uint64_t new)
{
	fprintf(stream, " %*" PRIu64 " %*" PRIu64, width, old, width, new);
	put_difference(stream, width, old, new);
}

/* "-" where it is a share of nothing. */
static void put_percent(FILE *stream, int64_t old, int64_t new)
{
	double percent = 100.0 * ((double)new - (double)old) / (double)old;

	if (old)
		fprintf(stream, " %+9.*f", percent < 1e4 ? 2 : 0, percent);
	else
		fprintf(stream, " %9s", new ? "-" : "+0.00");
}

void swz_diff_put_costs(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_costs_diff *costs)
{
	const struct swz_costs *new = &costs->new, *old = &costs->old;
	int calls = wide(widths->calls), ns = wide(widths->ns);

	fprintf(stream, "%*" PRIu64 " %*" PRIu64, calls, old->calls, calls,
		new->calls);
	put_difference(stream, calls, old->calls, new->calls);
	put_triple(stream, ns, (uint64_t)old->self_ns, (uint64_t) new->self_ns);
	put_percent(stream, old->self_ns, new->self_ns);
	put_triple(stream, ns, (uint64_t)old->inclusive_ns,
		   (uint64_t) new->inclusive_ns);
	put_percent(stream, old->inclusive_ns, new->inclusive_ns);
}
