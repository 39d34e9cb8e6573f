/* A report adds up trees: functions, the calls between them, and the places
 * that samples hit. Each thread is summed in ticks (thread_sums.c) and
 * converted to ns, so that all sums that a reader can make come out the same.
 */

#include "profile/costs/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/time_bucket.h"
#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/names/catalog.h"

/* --- hits of samples ----------------------------------------------------- */

/* A node of its own holds what hit one instruction; for all else it is hidden,
 * and counts for its parent. */

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

/* Adds those of a thread that was added to the report. */
static void hits_add(struct swz_hits *hits, struct swz_binding *binding,
		     const struct swz_tree *tree)
{
	size_t i;

	for (i = 1; hits->wanted && i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];
		struct swz_hit *hit;
		uint32_t place;

		/* (a damaged file; the function may be in no report) */
		if (!swz_hits_are_of(tree, node) ||
		    (!tree->nodes[node->parent].calls && !node->self_ns &&
		     !node->self_waiting_ns))
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

/* Sorts them by function and place. */
static void hits_sort(struct swz_hits *hits)
{
	if (hits->count > 1)
		qsort(hits->items, hits->count, sizeof(*hits->items), compare);
	/* the index is of the old order */
	swz_map_free(&hits->index);
}

static void hits_free(struct swz_hits *hits)
{
	free(hits->items);
	swz_map_free(&hits->index);
	*hits = (struct swz_hits){0};
}

/* --- functions and edges ------------------------------------------------- */

struct swz_report_function *swz_report_at(struct swz_report *report,
					  uint32_t index)
{
	size_t old = report->function_capacity;

	if (index >= old) {
		size_t count = (size_t)index + index / 2 + 64;

		report->functions = swz_reallocate(report->functions, count,
						   sizeof(*report->functions));
		for (; old < count; old++)
			report->functions[old] = (struct swz_report_function){
				0};
		report->function_capacity = count;
	}
	report->functions[index].present = true;
	return &report->functions[index];
}

struct swz_report_edge *swz_report_edge_at(struct swz_report *report,
					   uint32_t caller, uint32_t callee,
					   uint32_t place)
{
	uint32_t *found = swz_map_at(&report->edge_index,
				     (uint64_t)caller << 32 | callee, place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&report->edges, &report->edge_capacity,
			 report->edge_count, sizeof(*report->edges));
		*found = (uint32_t)report->edge_count++;
		report->edges[*found] = (struct swz_report_edge){
			.caller = caller, .callee = callee, .place = place};
	}
	return &report->edges[*found];
}

static void merge_function(struct swz_report_function *to,
			   const struct swz_report_function *from)
{
	to->calls = swz_add_count(to->calls, from->calls);
	to->unwound = swz_add_count(to->unwound, from->unwound);
	to->variance_ns += from->variance_ns;
	to->self_ns = swz_add(to->self_ns, from->self_ns);
	to->inclusive_ns = swz_add(to->inclusive_ns, from->inclusive_ns);
	to->split |= from->split;
	if (from->min_ns && (!to->min_ns || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	swz_call_times_merge(&to->times, &from->times);
	to->self_waiting_ns = swz_add(to->self_waiting_ns,
				      from->self_waiting_ns);
	to->inclusive_waiting_ns = swz_add(to->inclusive_waiting_ns,
					   from->inclusive_waiting_ns);
}

void swz_report_merge(struct swz_report *to, const struct swz_report *from)
{
	uint32_t i;

	for (i = 0; i < from->function_capacity; i++)
		if (from->functions[i].present)
			merge_function(swz_report_at(to, i),
				       &from->functions[i]);
	to->thread_count += from->thread_count;
	to->knows_waiting |= from->knows_waiting;
	to->knows_switches |= from->knows_switches;
	to->records_waiting |= from->records_waiting;
	to->missing_switches = swz_add_count(to->missing_switches,
					     from->missing_switches);
	to->silent_threads += from->silent_threads;
	to->unseen_threads += from->unseen_threads;
	to->hook_ns = from->hook_ns > to->hook_ns ? from->hook_ns : to->hook_ns;
	to->sampled |= from->sampled;
	to->samples |= from->samples;
	to->without_times |= from->without_times;
	to->first_calls |= from->first_calls;
	to->ends_unseen |= from->ends_unseen;
	to->has_times |= from->has_times;
	to->lost_times = swz_add_count(to->lost_times, from->lost_times);
	to->total_ns = swz_add(to->total_ns, from->total_ns);
	to->waiting_ns = swz_add(to->waiting_ns, from->waiting_ns);
	to->unplaced_ns = swz_add(to->unplaced_ns, from->unplaced_ns);
	to->unknown_ns = swz_add(to->unknown_ns, from->unknown_ns);
	to->late_waiting_ns = swz_add(to->late_waiting_ns,
				      from->late_waiting_ns);
	to->raw_ns = swz_add(to->raw_ns, from->raw_ns);
	to->folded_recursion = swz_add_count(to->folded_recursion,
					     from->folded_recursion);
	to->not_shown = swz_add_count(to->not_shown, from->not_shown);
	to->dropped_nodes = swz_add_count(to->dropped_nodes,
					  from->dropped_nodes);
	to->repaired_nodes = swz_add_count(to->repaired_nodes,
					   from->repaired_nodes);
}

static int compare_edges(const void *left, const void *right)
{
	const struct swz_report_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

void swz_report_sort(struct swz_report *report)
{
	if (report->edge_count > 1)
		qsort(report->edges, report->edge_count, sizeof(*report->edges),
		      compare_edges);
	/* the index is of the old order */
	swz_map_free(&report->edge_index);
	hits_sort(&report->hits);
}

void swz_report_free(struct swz_report *report)
{
	for (size_t i = 0; i < report->function_capacity; i++)
		swz_call_times_free(&report->functions[i].times);
	free(report->functions);
	free(report->edges);
	swz_map_free(&report->edge_index);
	hits_free(&report->hits);
	*report = (struct swz_report){0};
}

struct swz_report_function swz_report_function(const struct swz_report *report,
					       uint32_t function)
{
	if (function >= report->function_capacity)
		return (struct swz_report_function){0};
	return report->functions[function];
}

size_t swz_report_split(const struct swz_report *report)
{
	size_t count = 0, i;

	for (i = 0; i < report->function_capacity; i++)
		count += report->functions[i].split;
	return count;
}

/* --- adding a thread ----------------------------------------------------- */

/* One thread is summed in ticks (thread_sums.c), then converted to ns and added
 * to the report.
 *
 * Rounding: the self times are converted as differences of rounded running
 * sums, so in ns they still add up to the thread's time. Those of a function's
 * contexts are parts of the function's, made likewise. All inclusive times are
 * sums of these (thread_sums.c).
 *
 * Then what of its time a context has waited is taken out of its self time:
 * from there on all sums are of running and of waiting, apart.
 *
 * Where contexts were folded, the time of some calls is not below all of their
 * callers. Then a function's inclusive time is what its activations have
 * measured, and the report says of how many functions that is so. */

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

/* As the tree says, if it does. Otherwise all that a function takes that is
 * known to wait; where that is hidden, its caller waits. */
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

static int64_t sum_self(const struct swz_thread_sums *sums)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++)
		sum = swz_add(sum, sums->functions[i].self_ns);
	return sum;
}

/* WAITING_NS of the thread's time are known to be waiting, and REST_NS are not:
 * those after the last reading of its processor time are unknown. */
static void add_unknown(struct swz_report *report, const struct swz_tree *tree,
			int64_t waiting_ns, int64_t rest_ns)
{
	int64_t late = swz_sub(waiting_ns, tree->read_waiting_ns), unknown;

	if (late > tree->unread_ns)
		late = tree->unread_ns;
	if (late < 0)
		late = 0;
	unknown = tree->unread_ns - late;
	report->late_waiting_ns = swz_add(report->late_waiting_ns, late);
	report->unknown_ns = swz_add(report->unknown_ns,
				     unknown < rest_ns ? unknown : rest_ns);
}

/* It is known how much of the thread's time was waiting at most, not where. */
static void add_unplaced(struct swz_report *report,
			 const struct swz_thread_sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	int64_t all = sum_self(sums), ns = ns_of(sums, tree->waiting_ticks);

	report->silent_threads++;
	report->unseen_threads += tree->unseen_switches;
	if (ns > all)
		ns = all;
	report->unplaced_ns = swz_add(report->unplaced_ns, ns);
	add_unknown(report, tree, ns, all - ns);
}

static void find_waiting(struct swz_report *report,
			 struct swz_thread_sums *sums)
{
	struct swz_tree *tree = sums->tree;
	bool by_name = sums->binding->has_imports;
	int64_t waiting = 0;
	size_t i;

	if (tree->counts)
		return;
	report->knows_waiting |= by_name || tree->knows_waiting;
	report->knows_switches |= tree->knows_waiting;
	report->records_waiting |= by_name || (tree->knows_waiting &&
					       !tree->looked && !tree->samples);
	report->missing_switches = swz_add_count(report->missing_switches,
						 tree->missing_switches);
	if (!by_name && !tree->knows_waiting) {
		add_unplaced(report, sums);
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
		waiting = swz_add(waiting, node->self_waiting_ns);
		node->self_ns -= node->self_waiting_ns;
		function->self_waiting_ns = swz_add(function->self_waiting_ns,
						    node->self_waiting_ns);
		function->self_ns = swz_sub(function->self_ns,
					    node->self_waiting_ns);
	}
	add_unknown(report, tree, waiting, sum_self(sums));
}

static int64_t running_or_waiting(const struct swz_inclusive_sum *sum)
{
	return swz_add(sum->ns, sum->waiting_ns);
}

/* Shown where the sum over its contexts is too little: running or waiting. */
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
	return ns > running_or_waiting(sum) ? ns : running_or_waiting(sum);
}

/* How much of MORE ran: of what a function has beyond SUM's contexts, in calls
 * that were folded into others. It is the share that ran of all that does not
 * lie below these contexts. (What lies there may have run all the time, and
 * these calls waited.) */
static int64_t running_of(const struct swz_thread_sums *sums,
			  const struct swz_inclusive_sum *sum, int64_t more)
{
	const struct swz_tree_node *root = &sums->tree->nodes[SWZ_TREE_ROOT];
	int64_t rest = swz_sub(swz_add(root->below_ns, root->below_waiting_ns),
			       running_or_waiting(sum));
	int64_t ran = swz_sub(root->below_ns, sum->ns);

	if (rest <= 0 || ran < 0)
		return more;
	return part_of(sums, more, ran < rest ? ran : rest, rest);
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
		int64_t all = running_or_waiting(sum), ns = all, running;

		if (function->function != SWZ_CATALOG_OUTSIDE &&
		    (sum->split || sums->folded))
			ns = measured_ns(sums, function, sum, total);
		running = swz_add(sum->ns, running_of(sums, sum, ns - all));
		if (running < function->self_ns)
			running = function->self_ns;
		ns -= running;
		if (ns < function->self_waiting_ns)
			ns = function->self_waiting_ns;
		function->split = running > sum->ns || ns > sum->waiting_ns;
		function->inclusive = (struct swz_shown_sum){
			.ns = running, .below_ns = sum->ns};
		function->waiting = (struct swz_shown_sum){
			.ns = ns, .below_ns = sum->waiting_ns};
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
		if (sums->tree->samples && from->calls)
			to->variance_ns += (double)from->self_ns *
					   (double)from->self_ns /
					   (double)from->calls;
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
				swz_add(from->inclusive.ns, from->waiting.ns));
		report->total_ns = swz_add(report->total_ns, from->self_ns);
		report->waiting_ns = swz_add(report->waiting_ns,
					     from->self_waiting_ns);
	}
}

/* A bucket's calls took as long as its middle, compensated as a single call is.
 * In a sum of profiles they are compensated already. */
static void flush_times(struct swz_report *report, struct swz_thread_sums *sums)
{
	const struct swz_profile *profile = sums->binding->profile;
	const struct swz_tree *tree = sums->tree;
	size_t i;

	for (i = 0; i < tree->times_count; i++) {
		const struct swz_tree_times *times = &tree->times[i];
		const struct swz_function_ticks *from;
		uint64_t ticks = swz_bucket_start(times->bucket) +
				 swz_bucket_width(times->bucket) / 2;
		uint32_t function;

		if (times->function == SWZ_INDEX_NONE) {
			report->lost_times = swz_add_count(report->lost_times,
							   times->calls);
			continue;
		}
		function = swz_binding_function(
			sums->binding, times->function,
			profile->functions[times->function].id);
		if (function >= report->function_capacity ||
		    !report->functions[function].present)
			continue; /* a view hides it */
		from = swz_thread_sums_function(sums, function);
		if (ticks > INT64_MAX)
			ticks = INT64_MAX;
		swz_call_times_add(
			&report->functions[function].times,
			swz_profile_ns(profile,
				       tree->merged
					       ? (int64_t)ticks
					       : single_call(sums, from,
							     (int64_t)ticks)),
			times->calls);
		report->has_times = true;
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
		to->jumps = swz_add_count(to->jumps, from->jumps);
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
	flush_times(report, sums);
	flush_edges(report, sums, inclusive.edge_sums);
	free(inclusive.functions);
	free(inclusive.edge_sums);
}

/* The header has it in 1/1024 ticks. */
static void note_hooks(struct swz_report *report,
		       const struct swz_thread_sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	int64_t many = swz_signed(
		swz_add_count(tree->cost_inside, tree->cost_outside));
	double ns = (double)swz_profile_ns(sums->binding->profile, many) / 1024;

	if (tree->compensated && !tree->samples && !tree->merged &&
	    ns > report->hook_ns)
		report->hook_ns = ns;
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
	hits_add(&report->hits, binding, tree);
	report->raw_ns = swz_add(report->raw_ns,
				 ns_of(&sums, tree->total_ticks));
	note_hooks(report, &sums);
	report->sampled |= tree->sampled;
	report->samples |= tree->samples;
	report->without_times |= tree->counts;
	report->first_calls |= (binding->profile->header.flags &
				SWZ_FILE_COVER) != 0;
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
