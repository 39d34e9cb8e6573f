/* A comparison needs two reports of the same shape. They are aligned first:
 * functions, edges and contexts that one of them lacks get zeros there. Then
 * each difference is called a change or noise. */

#include "profile/formats/common/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/contexts.h"
#include "profile/costs/report.h"
#include "profile/costs/runs.h"
#include "profile/formats/common/section.h"

/* --- two reports of one shape -------------------------------------------- */

/* Both sides get the same shape, so that whoever writes them goes through both
 * by one index.
 *
 * Calls of one function by another are matched by their places: if there are as
 * many in both, in their order, since a change further up moves all of them;
 * otherwise those that have the same line. */

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

/* ---- bounds ---- */

int64_t swz_self_bound(const struct swz_costs *costs)
{
	return costs->self_ns ? 0 : costs->bound_ns;
}

int64_t swz_inclusive_bound(const struct swz_costs *costs)
{
	return costs->inclusive_ns ? 0 : costs->bound_ns;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t swz_diff_self_bound(const struct swz_costs_diff *costs)
{
	int64_t bound_ns = larger(swz_self_bound(&costs->new),
				  swz_self_bound(&costs->old));

	return swz_diff_self(costs) < (uint64_t)bound_ns ? bound_ns : 0;
}

int64_t swz_diff_inclusive_bound(const struct swz_costs_diff *costs)
{
	int64_t bound_ns = larger(swz_inclusive_bound(&costs->new),
				  swz_inclusive_bound(&costs->old));

	return swz_diff_inclusive(costs) < (uint64_t)bound_ns ? bound_ns : 0;
}

static void find_bound(struct swz_costs *costs, const struct swz_report *report,
		       uint32_t function, bool uncounted)
{
	int64_t bound_ns = swz_bound_of(report, function, 0);

	costs->bound_ns = bound_ns > 0 && (costs->calls || uncounted) ? bound_ns
								      : 0;
}

void swz_diff_find_bounds(struct swz_costs_diff *costs,
			  const struct swz_section *section, uint32_t function)
{
	find_bound(&costs->new, section->report, function, costs->uncounted);
	find_bound(&costs->old, section->old->report, function,
		   costs->uncounted);
}

bool swz_diff_has_bounds(const struct swz_section *section)
{
	const struct swz_report *new = section->report;
	const struct swz_report *old = section->old->report;

	return new->joined || old->joined || new->hook_ns > 0 ||
	       old->hook_ns > 0;
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
	widen(&widths->ns, (uint64_t)costs->bound_ns);
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

	if (widths->without_times) {
		fprintf(stream, " %*" PRIu64 " %*s %*s",
			calls < 11 ? 11 : calls, noise->calls, ns, "-", ns,
			"-");
		return;
	}
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

/* A time of either side, and the bounds of both and of their difference. */
struct compared {
	int64_t old, new;
	int64_t old_bound, new_bound, bound;
};

static struct compared self_of(const struct swz_costs_diff *costs, bool bounds)
{
	if (!bounds)
		return (struct compared){.old = costs->old.self_ns,
					 .new = costs->new.self_ns};
	return (struct compared){costs->old.self_ns, costs->new.self_ns,
				 swz_self_bound(&costs->old),
				 swz_self_bound(&costs->new),
				 swz_diff_self_bound(costs)};
}

static struct compared inclusive_of(const struct swz_costs_diff *costs,
				    bool bounds)
{
	if (!bounds)
		return (struct compared){.old = costs->old.inclusive_ns,
					 .new = costs->new.inclusive_ns};
	return (struct compared){costs->old.inclusive_ns,
				 costs->new.inclusive_ns,
				 swz_inclusive_bound(&costs->old),
				 swz_inclusive_bound(&costs->new),
				 swz_diff_inclusive_bound(costs)};
}

static void put_triple(FILE *stream, int width, const struct compared *c)
{
	putc(' ', stream);
	swz_put_plain_time(stream, width, c->old, c->old_bound);
	putc(' ', stream);
	swz_put_plain_time(stream, width, c->new, c->new_bound);
	if (c->bound) {
		putc(' ', stream);
		swz_put_plain_time(stream, width, 0, c->bound);
	} else {
		put_difference(stream, width, (uint64_t)c->old,
			       (uint64_t)c->new);
	}
}

/* "-" where it is a share of nothing, or of what is not known. */
static void put_percent(FILE *stream, const struct compared *c)
{
	int64_t old = c->old, new = c->new;
	double percent = 100.0 * ((double)new - (double)old) / (double)old;

	if (c->old_bound || c->new_bound)
		fprintf(stream, " %9s", "-");
	else if (old)
		fprintf(stream, " %+9.*f", percent < 1e4 ? 2 : 0, percent);
	else
		fprintf(stream, " %9s", new ? "-" : "+0.00");
}

void swz_diff_put_costs(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_costs_diff *costs)
{
	const struct swz_costs *new = &costs->new, *old = &costs->old;
	const struct compared self = self_of(costs, widths->bounds);
	const struct compared inclusive = inclusive_of(costs, widths->bounds);
	int calls = wide(widths->calls), ns = wide(widths->ns), i;

	if (costs->uncounted) {
		fprintf(stream, "%*s %*s %*s", calls, "-", calls, "-", calls,
			"-");
	} else {
		fprintf(stream, "%*" PRIu64 " %*" PRIu64, calls, old->calls,
			calls, new->calls);
		put_difference(stream, calls, old->calls, new->calls);
	}
	if (widths->without_times) {
		for (i = 0; i < 2; i++)
			fprintf(stream, " %*s %*s %*s %9s", ns, "-", ns, "-",
				ns, "-", "-");
		return;
	}
	put_triple(stream, ns, &self);
	put_percent(stream, &self);
	put_triple(stream, ns, &inclusive);
	put_percent(stream, &inclusive);
}

/* --- changes and noise --------------------------------------------------- */

/* A difference is a change, or it may be chance.
 *
 * A function is noise if its calls, its self time and its inclusive time all
 * are. Beside the runs' own spread there is a floor for times: the test knows
 * what differs from run to run, not what differs from build to build, as where
 * the code happens to lie. */

#define FLOOR_SHARE 0.001 /* of the larger total */

static struct swz_costs costs_of(const struct swz_section *section,
				 uint32_t function)
{
	struct swz_report_function costs = swz_report_function(section->report,
							       function);

	return (struct swz_costs){.calls = costs.calls,
				  .self_ns = costs.self_ns,
				  .inclusive_ns = costs.inclusive_ns};
}

static bool is_nothing(const struct swz_costs *costs)
{
	return !costs->calls && !costs->self_ns && !costs->inclusive_ns;
}

const char *swz_diff_remark(const struct swz_costs_diff *costs)
{
	if (is_nothing(&costs->old) && !is_nothing(&costs->new))
		return "  (new)";
	if (is_nothing(&costs->new) && !is_nothing(&costs->old))
		return "  (gone)";
	return "";
}

int64_t swz_diff_total(const struct swz_section *section)
{
	int64_t new = section->report->total_ns;
	int64_t old = section->old->report->total_ns;

	return new > old ? new : old;
}

static bool is_known(const struct swz_section *section)
{
	return section->runs && section->runs->count > 1 &&
	       section->old->runs && section->old->runs->count > 1;
}

static uint64_t noise_of(const struct swz_spread *new,
			 const struct swz_spread *old, double least)
{
	double noise = swz_spread_noise(new, old);

	if (noise < least)
		noise = least;
	return noise < 0x1p63 ? (uint64_t)ceil(noise) : UINT64_MAX;
}

static enum swz_diff_kind kind_of(const struct swz_diff_function *function)
{
	const struct swz_costs_diff *costs = &function->costs;
	const struct swz_diff_noise *noise = &function->noise;

	if (!noise->known)
		return SWZ_DIFF_UNKNOWN;
	if (swz_diff_self(costs) > noise->self_ns)
		return costs->new.self_ns > costs->old.self_ns
			       ? SWZ_DIFF_SLOWER
			       : SWZ_DIFF_FASTER;
	if (swz_diff_inclusive(costs) > noise->inclusive_ns ||
	    swz_diff_calls(costs) > noise->calls)
		return SWZ_DIFF_OTHER;
	return SWZ_DIFF_NOISE;
}

struct swz_diff_function swz_diff_function(const struct swz_section *section,
					   uint32_t index)
{
	struct swz_diff_function function = {
		.costs = {.new = costs_of(section, index),
			  .old = costs_of(section->old, index)},
		.noise.known = is_known(section),
		.present =
			swz_report_function(section->report, index).present ||
			swz_report_function(section->old->report, index)
				.present,
	};
	double least = FLOOR_SHARE * (double)swz_diff_total(section);
	const struct swz_costs *x = &function.costs.new,
			       *y = &function.costs.old;

	/* a side that does not have the function knows no better */
	function.costs.uncounted =
		(!swz_is_counted(section->report, index) ||
		 !swz_is_counted(section->old->report, index)) &&
		!function.costs.new.calls && !function.costs.old.calls;
	swz_diff_find_bounds(&function.costs, section, index);
	if (function.noise.known) {
		struct swz_function_spread *new = &function.new_runs;
		struct swz_function_spread *old = &function.old_runs;

		*new = swz_runs_function(section->runs, index);
		*old = swz_runs_function(section->old->runs, index);
		function.noise.calls = noise_of(&new->calls, &old->calls, 0);
		function.noise.self_ns = noise_of(
			&new->self_ns, &old->self_ns,
			fmax(least, (double)larger(swz_self_bound(x),
						   swz_self_bound(y))));
		function.noise.inclusive_ns = noise_of(
			&new->inclusive_ns, &old->inclusive_ns,
			fmax(least, (double)larger(swz_inclusive_bound(x),
						   swz_inclusive_bound(y))));
	}
	function.kind = kind_of(&function);
	return function;
}

struct swz_diff_function swz_diff_of_total(const struct swz_section *section)
{
	struct swz_diff_function total = {
		.costs.new.self_ns = section->report->total_ns,
		.costs.old.self_ns = section->old->report->total_ns,
		.noise.known = is_known(section),
		.present = true,
	};

	if (total.noise.known) {
		struct swz_spread new = swz_runs_total(section->runs);
		struct swz_spread old = swz_runs_total(section->old->runs);

		total.noise.self_ns = noise_of(
			&new, &old,
			FLOOR_SHARE * (double)swz_diff_total(section));
	}
	total.kind = kind_of(&total);
	return total;
}

const char *swz_diff_kind_name(const struct swz_diff_function *function)
{
	if (is_nothing(&function->costs.old) &&
	    !is_nothing(&function->costs.new))
		return "new";
	if (is_nothing(&function->costs.new) &&
	    !is_nothing(&function->costs.old))
		return "gone";
	switch (function->kind) {
	case SWZ_DIFF_NOISE:
		return "noise";
	case SWZ_DIFF_SLOWER:
		return "slower";
	case SWZ_DIFF_FASTER:
		return "faster";
	case SWZ_DIFF_OTHER:
		return "other";
	default:
		return NULL;
	}
}

/* Two buckets are as much as 1.6 % of a time apart, or a ns. */
static double bucket_width(int64_t ns)
{
	return fmax(0.016 * (double)ns, 1);
}

struct swz_percentile_diff swz_diff_percentile(
	const struct swz_section *section, uint32_t function,
	enum swz_percentile which)
{
	struct swz_report_function new = swz_report_function(section->report,
							     function);
	struct swz_report_function old = swz_report_function(
		section->old->report, function);
	struct swz_percentile_diff diff = {
		.known = swz_percentile_is_sure(&new.times, which) &&
			 swz_percentile_is_sure(&old.times, which)};

	if (!diff.known)
		return diff;
	diff.new_ns = swz_percentile_ns(&new.times, which, new.min_ns,
					new.max_ns);
	diff.old_ns = swz_percentile_ns(&old.times, which, old.min_ns,
					old.max_ns);
	diff.noise_ns = llround(
		hypot((double)swz_percentile_noise(&new.times, which),
		      (double)swz_percentile_noise(&old.times, which)) +
		bucket_width(diff.new_ns > diff.old_ns ? diff.new_ns
						       : diff.old_ns));
	diff.changed = llabs(diff.new_ns - diff.old_ns) > diff.noise_ns;
	return diff;
}

struct swz_diff_counts swz_diff_count(const struct swz_section *section)
{
	struct swz_diff_counts counts = {0};
	uint32_t i;

	for (i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function = swz_diff_function(section,
								      i);

		if (!function.present || i == SWZ_CATALOG_UNKNOWN ||
		    (i == SWZ_CATALOG_OUTSIDE &&
		     section->report->without_times))
			continue;
		counts.functions[function.kind]++;
		counts.self_ns[function.kind] = swz_add_count(
			counts.self_ns[function.kind],
			swz_diff_self(&function.costs));
	}
	return counts;
}

const char *swz_diff_verdict(const struct swz_diff_function *total)
{
	return total->kind == SWZ_DIFF_SLOWER   ? "slower"
	       : total->kind == SWZ_DIFF_FASTER ? "faster"
						: "no change beyond the noise";
}

/* ---- the lines above tables ---- */

static void put_threads(FILE *stream, const struct swz_section *section)
{
	size_t least = section->report->thread_count, most = least, i;

	for (i = 0; section->runs && i < section->runs->count; i++) {
		size_t count = section->runs->items[i].thread_count;

		least = i && least < count ? least : count;
		most = i && most > count ? most : count;
	}
	if (least == most)
		fprintf(stream, "%zu thread%s", least, least == 1 ? "" : "s");
	else
		fprintf(stream, "%zu to %zu threads", least, most);
}

static void put_side(FILE *stream, const char *side,
		     const struct swz_section *section)
{
	size_t runs = section->runs ? section->runs->count : 1;

	fprintf(stream, "# %s: process %" PRId32 ": ", side,
		section->profile->header.pid);
	swz_put_command(stream, section->profile);
	putc('\n', stream);
	if (section->profile_count > runs)
		fprintf(stream, "# %s: %zu profiles merged\n", side,
			section->profile_count);
	if (section->report->without_times)
		fprintf(stream, "# %s: %" PRIu64 " call%s in ", side,
			swz_calls_of(section->report),
			swz_s(swz_calls_of(section->report)));
	else
		fprintf(stream, "# %s: total %" PRId64 " ns in ", side,
			section->report->total_ns);
	put_threads(stream, section);
	if (section->thread_name) {
		fputs(" called ", stream);
		swz_put_text(stream, section->thread_name);
	}
	if (runs > 1 && section->report->without_times) {
		fprintf(stream, ", mean of %zu runs", runs);
	} else if (runs > 1) {
		struct swz_spread total = swz_runs_total(section->runs);

		fprintf(stream,
			", mean of %zu runs with a standard deviation of "
			"%.0f ns",
			runs, swz_spread_deviation(&total));
	}
	putc('\n', stream);
}

static void put_total(FILE *stream, const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	int64_t new = total.costs.new.self_ns, old = total.costs.old.self_ns;

	fprintf(stream, "# total: %+" PRId64 " ns", new - old);
	if (old)
		fprintf(stream, " (%+.2f%%)",
			100 * ((double)new - (double)old) / (double)old);
	if (!total.noise.known) {
		fputs("; the noise is unknown: compare several runs of each, "
		      "--diff OLD... -- NEW...\n",
		      stream);
		return;
	}
	fprintf(stream, ", noise %" PRIu64 " ns: %s\n", total.noise.self_ns,
		swz_diff_verdict(&total));
}

/* Where there are no times. */
static void put_total_calls(FILE *stream, const struct swz_section *section)
{
	uint64_t new = swz_calls_of(section->report);
	uint64_t old = swz_calls_of(section->old->report);

	fprintf(stream, "# no times (-m count)\n# total: %s%" PRIu64 " call%s",
		new < old ? "-" : "+", new < old ? old - new : new - old,
		swz_s(new < old ? old - new : new - old));
	if (old)
		fprintf(stream, " (%+.2f%%)",
			100 * ((double)new - (double)old) / (double)old);
	fputs(is_known(section) ? "\n"
				: "; the noise is unknown: compare several "
				  "runs of each, --diff OLD... -- NEW...\n",
	      stream);
}

static void put_functions(FILE *stream, const struct swz_section *section)
{
	struct swz_diff_counts counts = swz_diff_count(section);

	if (counts.functions[SWZ_DIFF_UNKNOWN])
		return;
	if (section->report->without_times) {
		fprintf(stream,
			"# functions: %zu changed, %zu within the noise\n",
			counts.functions[SWZ_DIFF_OTHER],
			counts.functions[SWZ_DIFF_NOISE]);
		return;
	}
	fprintf(stream,
		"# functions: %zu slower (self +%" PRIu64
		" ns), %zu faster (self -%" PRIu64
		" ns), %zu changed otherwise, %zu within the noise\n",
		counts.functions[SWZ_DIFF_SLOWER],
		counts.self_ns[SWZ_DIFF_SLOWER],
		counts.functions[SWZ_DIFF_FASTER],
		counts.self_ns[SWZ_DIFF_FASTER],
		counts.functions[SWZ_DIFF_OTHER],
		counts.functions[SWZ_DIFF_NOISE]);
}

void swz_diff_put_heading(FILE *stream, const struct swz_section *section)
{
	put_side(stream, "old", section->old);
	put_side(stream, "new", section);
	if (section->report->without_times) {
		put_total_calls(stream, section);
		put_functions(stream, section);
		return;
	}
	fprintf(stream, "# times in ns%s\n",
		swz_time_kind(section) == SWZ_PROCESSOR_TIME
			? ", of processor time"
		: swz_time_kind(section) == SWZ_RUNNING_TIME
			? ", of running time"
		: section->compensated ? ", without those of the hooks"
				       : "");
	put_total(stream, section);
	put_functions(stream, section);
}
