/* One thread is summed in ticks (thread_sums.h), then converted to ns and added
 * to the report.
 *
 * Rounding: the self times are converted as differences of rounded running
 * sums, so in ns they still add up to the thread's time. Those of a function's
 * contexts are parts of the function's, made likewise. All inclusive times are
 * sums of these (inclusive.h).
 *
 * Where contexts were folded, the time of some calls is not below all of their
 * callers. Then a function's inclusive time is what its activations have
 * measured, and the report says of how many functions that is so. */

#include "profile/costs/aggregate.h"

#include <stdlib.h>

#include "profile/costs/inclusive.h"
#include "profile/costs/thread_sums.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

/* Ticks in ns, to the nearest multiple of the unit. */
static int64_t ns_of(const struct swz_thread_sums *sums, int64_t ticks)
{
	int64_t ns = swz_profile_ns(sums->binding->profile, ticks);
	int64_t unit = sums->unit_ns;

	return swz_add(ns, unit / 2) / unit * unit;
}

/* The part of a multiple of the unit that is one, too; rounded down. */
static int64_t part_of(const struct swz_thread_sums *sums, int64_t ns,
		       int64_t numerator, int64_t denominator)
{
	return swz_scale(ns / sums->unit_ns, (uint64_t)numerator,
			 (uint64_t)denominator) *
	       sums->unit_ns;
}

/* In ns, as differences of rounded running sums. */
static void round_self(struct swz_thread_sums *sums)
{
	int64_t ticks = 0, done_ns = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct swz_function_ticks *function = &sums->functions[i];
		int64_t ns;

		ticks = swz_add(ticks, function->self);
		ns = ns_of(sums, ticks);
		function->self_ns = ns - done_ns;
		done_ns = ns;
	}
}

/* The ticks of a single call, compensated: without the cost of its own hooks,
 * and of the rest what remains of it in all calls. How many calls it has made
 * itself is not known, so they are taken to be in proportion to its time. That
 * is exact of the only call, and where none are made. */
static int64_t single_call(const struct swz_thread_sums *sums,
			   const struct swz_function_ticks *function,
			   int64_t ticks)
{
	uint64_t cost = sums->tree->cost_inside;
	int64_t all = function->raw, rest = ticks;

	/* of a recursive one calls are within others */
	if (!function->recursive) {
		all = swz_sub(all, swz_call_cost(function->calls, cost));
		rest = swz_sub(rest, swz_call_cost(1, cost));
	}
	if (function->measured < all)
		rest = swz_scale(rest, (uint64_t)function->measured,
				 (uint64_t)all);
	return rest > 0 ? rest : 0;
}

/* The shortest and the longest call are estimates where calls have made others
 * (single_call()), and calls that have not ended are not among them. Both are
 * bounded by what is known: the longest takes no more than all, nor less
 * than the mean; the shortest no more than the mean (but of a recursive
 * function, of which inclusive has the outermost calls only). In a sum of
 * profiles each is bounded by the mean of its own already, which is another one
 * than that of all. */
static void add_extremes(struct swz_report_function *to,
			 const struct swz_function_ticks *from, bool merged,
			 int64_t min, int64_t max, int64_t inclusive)
{
	int64_t calls = from->calls < INT64_MAX ? (int64_t)from->calls
						: INT64_MAX;

	if (calls && !from->uncounted && !merged) {
		int64_t mean = inclusive / calls;
		int64_t least = mean + (inclusive % calls != 0);

		if (max < least)
			max = least;
		if (calls == 1 || (min > mean && !from->recursive))
			min = mean;
	}
	if (max > inclusive)
		max = inclusive;
	if (min > max)
		min = max;
	if (min && (!to->min_ns || min < to->min_ns))
		to->min_ns = min;
	if (max > to->max_ns)
		to->max_ns = max;
}

/* A function's time, and how much of it has been given to its contexts. */
struct share {
	int64_t ticks;
	int64_t done_ticks;
	int64_t done_ns;
};

/* To each context its part of its function's self time: they add up to that, to
 * the nanosecond. */
static void distribute_self(struct swz_thread_sums *sums)
{
	struct swz_tree *tree = sums->tree;
	struct share *shares = swz_allocate(sums->function_count,
					    sizeof(*shares));
	size_t i;

	/* (contexts without self time may be of functions without a sum) */
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		int64_t self = tree->nodes[index].self;
		struct share *share;

		if (!self)
			continue;
		share = &shares[swz_thread_sums_function(sums,
							 sums->shown[index]) -
				sums->functions];
		share->ticks = swz_add(share->ticks, self);
	}
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		const struct swz_function_ticks *function;
		struct share *share;
		int64_t ns;

		if (!node->self)
			continue;
		function = swz_thread_sums_function(sums, sums->shown[index]);
		share = &shares[function - sums->functions];
		share->done_ticks = swz_add(share->done_ticks, node->self);
		ns = part_of(sums, function->self_ns, share->done_ticks,
			     share->ticks);
		node->self_ns = ns - share->done_ns;
		share->done_ns = ns;
	}
	free(shares);
}

/* By context switches where there are any. Otherwise all that a function takes
 * that is known to wait; where that is hidden, its caller waits. */
static int64_t waiting_of(struct swz_thread_sums *sums,
			  const struct swz_tree_node *node, bool by_name)
{
	const struct swz_catalog *catalog = sums->binding->catalog;
	int64_t waiting = node->waiting;
	uint32_t function;

	if (sums->tree->knows_waiting) {
		if (waiting >= node->self)
			return node->self_ns;
		return part_of(sums, node->self_ns, waiting, node->self);
	}
	function = swz_binding_function(sums->binding, node->function,
					node->id);
	return by_name && catalog->functions[function].waits ? node->self_ns
							     : 0;
}

static void find_waiting(struct swz_report *report,
			 struct swz_thread_sums *sums)
{
	struct swz_tree *tree = sums->tree;
	bool by_name = sums->binding->has_imports;
	size_t i;

	report->knows_waiting |= by_name || tree->knows_waiting;
	report->knows_switches |= tree->knows_waiting;
	report->missing_switches = swz_add_count(report->missing_switches,
						 tree->missing_switches);
	if (!by_name && !tree->knows_waiting) {
		report->silent_threads++;
		return;
	}
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		struct swz_function_ticks *function;

		if (!node->self_ns)
			continue;
		node->self_waiting_ns = waiting_of(
			sums, node, by_name && index != SWZ_TREE_ROOT);
		function = swz_thread_sums_function(sums, sums->shown[index]);
		function->self_waiting_ns = swz_add(function->self_waiting_ns,
						    node->self_waiting_ns);
	}
}

/* What is shown for it where the sum over its contexts is too little. */
static int64_t measured_ns(const struct swz_thread_sums *sums,
			   const struct swz_function_ticks *function,
			   const struct swz_inclusive_sum *sum, int64_t total)
{
	int64_t ticks = sums->tree->sampled ? sum->topmost_ticks
					    : function->measured;
	int64_t ns;

	if (ticks > total)
		ticks = total;
	ns = ns_of(sums, ticks);
	return ns > sum->ns ? ns : sum->ns;
}

static void settle_inclusive(struct swz_thread_sums *sums,
			     const struct swz_inclusive_sum *inclusive,
			     int64_t total)
{
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct swz_function_ticks *function = &sums->functions[i];
		const struct swz_inclusive_sum *sum =
			&inclusive[function->function];
		int64_t ns = sum->ns;

		if (function->function != SWZ_CATALOG_OUTSIDE &&
		    (sum->split || sums->folded))
			ns = measured_ns(sums, function, sum, total);
		if (ns < function->self_ns)
			ns = function->self_ns;
		function->split = ns > sum->ns;
		function->inclusive = (struct swz_shown_sum){
			.ns = ns, .below_ns = sum->ns};
		function->waiting = (struct swz_shown_sum){
			.ns = sum->ns ? part_of(sums, ns, sum->waiting_ns,
						sum->ns)
				      : 0,
			.below_ns = sum->waiting_ns};
		if (sum->recursive || sum->split)
			swz_thread_sums_mark_recursive(sums,
						       function->function);
	}
}

/* An edge's part of its callee's SUM: of a split function also of what that has
 * more than lies below the contexts. */
static int64_t edge_part(const struct swz_thread_sums *sums,
			 struct swz_shown_sum *sum, int64_t ns)
{
	int64_t part;

	if (sum->ns == sum->below_ns)
		return ns;
	sum->edges_done_ns = swz_add(sum->edges_done_ns, ns);
	part = part_of(sums, sum->ns, sum->edges_done_ns, sum->below_ns);
	ns = part - sum->parts_done_ns;
	sum->parts_done_ns = part;
	return ns;
}

static void flush_functions(struct swz_report *report,
			    const struct swz_thread_sums *sums)
{
	const struct swz_profile *profile = sums->binding->profile;
	double ns_per_tick = (double)swz_profile_ns(profile, 1 << 30) /
			     (1 << 30);
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		const struct swz_function_ticks *from = &sums->functions[i];
		struct swz_report_function *to = swz_report_at(report,
							       from->function);

		to->self_ns = swz_add(to->self_ns, from->self_ns);
		to->calls = swz_add_count(to->calls, from->calls);
		to->unwound = swz_add_count(to->unwound, from->unwound);
		to->variance_ns += from->variance * ns_per_tick * ns_per_tick;
		to->inclusive_ns = swz_add(to->inclusive_ns,
					   from->inclusive.ns);
		to->self_waiting_ns = swz_add(to->self_waiting_ns,
					      from->self_waiting_ns);
		to->inclusive_waiting_ns = swz_add(to->inclusive_waiting_ns,
						   from->waiting.ns);
		to->split |= from->split;
		if (!sums->tree->sampled && !sums->tree->samples)
			add_extremes(
				to, from, sums->tree->merged,
				swz_profile_ns(profile, single_call(sums, from,
								    from->min)),
				swz_profile_ns(profile, single_call(sums, from,
								    from->max)),
				from->inclusive.ns);
		report->total_ns = swz_add(report->total_ns, from->self_ns);
	}
}

static void flush_edges(struct swz_report *report, struct swz_thread_sums *sums,
			const struct swz_inclusive_edge *edge_sums)
{
	size_t i;

	for (i = 0; i < sums->edge_count; i++) {
		const struct swz_edge_ticks *from = &sums->edges[i];
		struct swz_report_edge *to = swz_report_edge_at(
			report, from->caller, from->callee, from->place);
		struct swz_function_ticks *callee = swz_thread_sums_function(
			sums, from->callee);

		to->calls = swz_add_count(
			to->calls, sums->tree->samples ? edge_sums[i].samples
						       : from->calls);
		to->inclusive_ns = swz_add(
			to->inclusive_ns,
			edge_part(sums, &callee->inclusive, edge_sums[i].ns));
		to->waiting_ns = swz_add(to->waiting_ns,
					 edge_part(sums, &callee->waiting,
						   edge_sums[i].waiting_ns));
	}
}

static void flush(struct swz_report *report, struct swz_thread_sums *sums,
		  int64_t total)
{
	struct swz_inclusive inclusive = {
		.tree = sums->tree,
		.shown = sums->shown,
		.edges = sums->with_edges ? sums->edge_of : NULL,
		.function_count = sums->binding->catalog->function_count,
	};

	inclusive.functions = swz_allocate(inclusive.function_count,
					   sizeof(*inclusive.functions));
	inclusive.edge_sums = swz_allocate(sums->edge_count,
					   sizeof(*inclusive.edge_sums));
	swz_inclusive_derive(&inclusive);
	settle_inclusive(sums, inclusive.functions, total);
	flush_functions(report, sums);
	flush_edges(report, sums, inclusive.edge_sums);
	free(inclusive.functions);
	free(inclusive.edge_sums);
}

void swz_report_add(struct swz_report *report, struct swz_binding *binding,
		    struct swz_tree *tree)
{
	struct swz_thread_sums sums = {
		.binding = binding,
		.tree = tree,
		.with_edges = !report->without_edges,
		.unit_ns = report->unit_ns > 1 ? report->unit_ns : 1};
	int64_t total;

	total = swz_thread_sums_add(&sums);
	round_self(&sums);
	distribute_self(&sums);
	find_waiting(report, &sums);
	flush(report, &sums, total);
	swz_hits_add(&report->hits, binding, tree);
	report->raw_ns = swz_add(report->raw_ns,
				 ns_of(&sums, tree->total_ticks));
	report->sampled |= tree->sampled;
	report->samples |= tree->samples;
	report->thread_count += !tree->absent;
	report->folded_recursion = swz_add_count(report->folded_recursion,
						 sums.folded_calls);
	report->not_shown = swz_add_count(report->not_shown, tree->not_shown);
	report->dropped_nodes = swz_add_count(report->dropped_nodes,
					      tree->dropped_nodes);
	report->repaired_nodes = swz_add_count(report->repaired_nodes,
					       tree->repaired_nodes);
	swz_thread_sums_free(&sums);
}
