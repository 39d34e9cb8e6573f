/* One thread is summed in ticks, then converted to ns and added to the report.
 *
 * Rounding: the self times are converted as differences of rounded running
 * sums, so in ns they still add up to the thread's time. Those of a function's
 * contexts are parts of the function's, made likewise. All inclusive times are
 * sums of these (inclusive.h).
 *
 * Where contexts were folded, the time of some calls is not below all of their
 * callers. Then a function's inclusive time is what its activations have
 * measured, and the report says of how many functions that is so.
 *
 * Hidden contexts count for the nearest shown function above them. A folded
 * node's time was spent in a context that is not known but within the function
 * that holds its call site; it is taken from that function's self time.
 *
 * A context without calls and time was not there in the range of time that was
 * asked for: it makes no row. */

#include "profile/costs/aggregate.h"

#include <stdlib.h>

#include "profile/costs/inclusive.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

struct function_ticks {
	uint32_t function;
	uint64_t calls;
	uint64_t unwound;
	double variance; /* of self */
	int64_t self;
	int64_t taken;    /* by folded nodes, to be subtracted from self */
	int64_t measured; /* inclusive, as its activations were timed */
	int64_t raw;      /* the same, not compensated */
	int64_t min;      /* not compensated */
	int64_t max;
	bool uncounted; /* see swz_tree_node */
	bool recursive; /* in this thread */
	int64_t self_ns;
	int64_t self_waiting_ns;
	bool split; /* less lies below its topmost contexts than is shown */
	struct shown_sum {
		int64_t ns;            /* as it is shown */
		int64_t below_ns;      /* what lies below these contexts */
		int64_t edges_done_ns; /* of below_ns: of edges that had their
					* part */
		int64_t parts_done_ns; /* of ns: these parts */
	} inclusive, waiting;
};

struct edge_ticks {
	uint32_t caller;
	uint32_t callee;
	uint32_t place;
	uint64_t calls;
};

/* The sums of one thread. */
struct sums {
	struct swz_binding *binding;
	struct swz_tree *tree;
	uint32_t *shown; /* per context: the catalog's function that it counts
			  * for */
	struct function_ticks *functions;
	size_t function_count;
	size_t function_capacity;
	uint32_t *function_index; /* per function of the catalog: 1 + index;
				   * 0: none */
	size_t indexed;
	struct edge_ticks *edges;
	size_t edge_count;
	size_t edge_capacity;
	struct swz_map edge_index;
	uint32_t *edge_of; /* per node: its edge, NO_EDGE: none */
	bool with_edges;
	int64_t unit_ns;       /* of the report; 1 or more */
	uint64_t folded_calls; /* recursive ones that go on further up */
	bool folded;           /* some callers' contexts are not known */
};

#define NO_EDGE UINT32_MAX

/* Functions are added to the catalog while nodes are added. */
static void extend_index(struct sums *sums)
{
	size_t count = sums->binding->catalog->function_count;

	count += count / 2;
	sums->function_index = swz_reallocate(sums->function_index, count,
					      sizeof(*sums->function_index));
	while (sums->indexed < count)
		sums->function_index[sums->indexed++] = 0;
}

static struct function_ticks *function_sum(struct sums *sums, uint32_t function)
{
	uint32_t *found;

	if (function >= sums->indexed)
		extend_index(sums);
	found = &sums->function_index[function];
	if (!*found) {
		swz_grow(&sums->functions, &sums->function_capacity,
			 sums->function_count, sizeof(*sums->functions));
		sums->functions[sums->function_count++] =
			(struct function_ticks){.function = function};
		*found = (uint32_t)sums->function_count;
	}
	return &sums->functions[*found - 1];
}

static struct edge_ticks *edge_sum(struct sums *sums, uint32_t caller,
				   uint32_t callee, uint32_t place)
{
	uint32_t *found = swz_map_at(&sums->edge_index,
				     (uint64_t)caller << 32 | callee, place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&sums->edges, &sums->edge_capacity, sums->edge_count,
			 sizeof(*sums->edges));
		*found = (uint32_t)sums->edge_count++;
		sums->edges[*found] = (struct edge_ticks){
			.caller = caller, .callee = callee, .place = place};
	}
	return &sums->edges[*found];
}

static bool is_hidden(const struct swz_tree_node *node)
{
	return node->flags & SWZ_NODE_HIDDEN;
}

static bool is_folded(const struct swz_tree_node *node)
{
	return node->flags & SWZ_NODE_FOLDED;
}

static uint32_t catalog_function(struct sums *sums,
				 const struct swz_tree_node *node)
{
	return swz_binding_function(sums->binding, node->function, node->id);
}

/* Parents come before children in tree->contexts. */
static void find_shown(struct sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	size_t i;

	sums->shown = swz_allocate(tree->count, sizeof(*sums->shown));
	sums->shown[SWZ_TREE_ROOT] = SWZ_CATALOG_OUTSIDE;
	for (i = 1; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		const struct swz_tree_node *node = &tree->nodes[index];

		sums->shown[index] = is_hidden(node)
					     ? sums->shown[node->parent]
					     : catalog_function(sums, node);
	}
}

static void add_contexts(struct sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		const struct swz_tree_node *node = &tree->nodes[index];
		struct function_ticks *sum;

		if (!node->self && node->self_variance == 0 &&
		    index != SWZ_TREE_ROOT)
			continue; /* its calls, if any, are add_nodes' */
		sum = function_sum(sums, sums->shown[index]);
		sum->self = swz_add(sum->self, node->self);
		sum->variance += node->self_variance;
		if (tree->samples && index == SWZ_TREE_ROOT)
			sum->calls = swz_add_count(sum->calls, node->calls);
	}
}

static void mark_recursive(struct sums *sums, uint32_t function)
{
	sums->binding->catalog->functions[function].recursive = true;
}

static uint32_t caller_of(struct sums *sums, const struct swz_tree_node *node)
{
	if (node->folded_caller != SWZ_INDEX_NONE)
		return swz_binding_function(sums->binding, node->folded_caller,
					    0);
	return sums->shown[node->parent];
}

/* Takes a folded node's time from its caller. Returns the caller that is to be
 * shown. It may make the call while another of its callees is active, as far
 * as one can tell: what it calls is no longer disjoint. */
static uint32_t take_folded(struct sums *sums, const struct swz_tree_node *node,
			    uint32_t caller)
{
	struct function_ticks *sum = function_sum(sums, caller);
	int64_t cost = swz_tree_cost_outside(sums->tree, node);

	sum->taken = swz_add(sum->taken, swz_add(node->ticks, cost));
	if (node->folded_caller == SWZ_INDEX_NONE && !is_hidden(node)) {
		/* a viewer has to see that it is called by somebody */
		if (sums->with_edges)
			edge_sum(sums, SWZ_CATALOG_OUTSIDE, SWZ_CATALOG_UNKNOWN,
				 SWZ_PLACE_UNKNOWN)
				->calls = 1;
		function_sum(sums, SWZ_CATALOG_UNKNOWN);
		caller = SWZ_CATALOG_UNKNOWN;
	}
	mark_recursive(sums, caller);
	sums->folded |= node->calls || node->ticks;
	return caller;
}

static void add_edge(struct sums *sums, const struct swz_tree_node *node,
		     uint32_t caller, uint32_t callee)
{
	uint32_t place = swz_binding_place(sums->binding, node->call_site,
					   caller);
	struct edge_ticks *edge = edge_sum(sums, caller, callee, place);

	function_sum(sums, caller); /* that an edge leads from has a row */
	edge->calls = swz_add_count(edge->calls, node->calls);
	sums->edge_of[node - sums->tree->nodes] = (uint32_t)(edge -
							     sums->edges);
}

static void add_call(struct sums *sums, const struct swz_tree_node *node,
		     uint32_t caller)
{
	const struct swz_tree *tree = sums->tree;
	uint32_t callee = catalog_function(sums, node);
	struct function_ticks *sum = function_sum(sums, callee);

	sum->calls = swz_add_count(sum->calls, node->calls);
	sum->unwound = swz_add_count(sum->unwound, node->unwound);
	/* (sampled: of all contexts, the topmost or not) */
	if (!tree->sampled)
		sum->measured = swz_add(sum->measured,
					swz_tree_inclusive(tree, node));
	sum->raw = swz_add(sum->raw, node->outer_ticks);
	sum->uncounted |= node->uncounted;
	if (node->min_ticks && (!sum->min || node->min_ticks < sum->min))
		sum->min = node->min_ticks;
	if (node->max_ticks > sum->max)
		sum->max = node->max_ticks;
	if (sums->with_edges)
		add_edge(sums, node, caller, callee);
	sum->recursive |= node->outer_ticks != node->ticks;
	if (&tree->nodes[node->context] != node) {
		sums->folded_calls = swz_add_count(sums->folded_calls,
						   node->calls);
		sum->recursive = true;
		mark_recursive(sums, callee);
	}
}

#define PROGRESS_EVERY 16384u

static void add_nodes(struct sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	size_t i;

	for (i = 1; i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];
		uint32_t caller = caller_of(sums, node);

		if (i % PROGRESS_EVERY == 0)
			swz_progress_add(PROGRESS_EVERY);
		if (is_folded(node))
			caller = take_folded(sums, node, caller);
		if (!is_hidden(node) && (node->calls || node->ticks))
			add_call(sums, node, caller);
	}
}

/* Scales all self times by numerator / denominator. Returns their sum. */
static int64_t scale_self(struct sums *sums, int64_t numerator,
			  int64_t denominator)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct function_ticks *function = &sums->functions[i];

		function->self = swz_scale(function->self, (uint64_t)numerator,
					   (uint64_t)denominator);
		sum = swz_add(sum, function->self);
	}
	return sum;
}

/* Takes what folded nodes took from their callers. Where a caller has less
 * than that (its own time was recorded for another function: the call site was
 * not in a hooked one) all are scaled down, so that the sum remains right.
 * Returns the sum. */
static int64_t settle_folded(struct sums *sums)
{
	int64_t wanted = 0, sum = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct function_ticks *function = &sums->functions[i];

		function->self = swz_sub(function->self, function->taken);
		wanted = swz_add(wanted, function->self);
		if (function->self < 0)
			function->self = 0;
		sum = swz_add(sum, function->self);
	}
	if (wanted < 0)
		wanted = 0;
	if (sum <= wanted)
		return sum;
	return scale_self(sums, wanted, sum);
}

static struct swz_report_function *report_function(struct swz_report *report,
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

static struct swz_report_edge *report_edge(struct swz_report *report,
					   const struct edge_ticks *key)
{
	uint32_t *found = swz_map_at(&report->edge_index,
				     (uint64_t)key->caller << 32 | key->callee,
				     key->place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&report->edges, &report->edge_capacity,
			 report->edge_count, sizeof(*report->edges));
		*found = (uint32_t)report->edge_count++;
		report->edges[*found] = (struct swz_report_edge){
			.caller = key->caller,
			.callee = key->callee,
			.place = key->place};
	}
	return &report->edges[*found];
}

/* Ticks in ns, to the nearest multiple of the unit. */
static int64_t ns_of(const struct sums *sums, int64_t ticks)
{
	int64_t ns = swz_profile_ns(sums->binding->profile, ticks);
	int64_t unit = sums->unit_ns;

	return swz_add(ns, unit / 2) / unit * unit;
}

/* The part of a multiple of the unit that is one, too; rounded down. */
static int64_t part_of(const struct sums *sums, int64_t ns, int64_t numerator,
		       int64_t denominator)
{
	return swz_scale(ns / sums->unit_ns, (uint64_t)numerator,
			 (uint64_t)denominator) *
	       sums->unit_ns;
}

/* In ns, as differences of rounded running sums. */
static void round_self(struct sums *sums)
{
	int64_t ticks = 0, done_ns = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct function_ticks *function = &sums->functions[i];
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
static int64_t single_call(const struct sums *sums,
			   const struct function_ticks *function, int64_t ticks)
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
			 const struct function_ticks *from, bool merged,
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
static void distribute_self(struct sums *sums)
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
		share = &shares[function_sum(sums, sums->shown[index]) -
				sums->functions];
		share->ticks = swz_add(share->ticks, self);
	}
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		const struct function_ticks *function;
		struct share *share;
		int64_t ns;

		if (!node->self)
			continue;
		function = function_sum(sums, sums->shown[index]);
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
static int64_t waiting_of(struct sums *sums, const struct swz_tree_node *node,
			  bool by_name)
{
	const struct swz_catalog *catalog = sums->binding->catalog;
	int64_t waiting = node->waiting;

	if (sums->tree->knows_waiting) {
		if (waiting >= node->self)
			return node->self_ns;
		return part_of(sums, node->self_ns, waiting, node->self);
	}
	return by_name && catalog->functions[catalog_function(sums, node)].waits
		       ? node->self_ns
		       : 0;
}

static void find_waiting(struct swz_report *report, struct sums *sums)
{
	struct swz_tree *tree = sums->tree;
	bool by_name = sums->binding->has_imports;
	size_t i;

	report->knows_waiting |= by_name || tree->knows_waiting;
	report->knows_switches |= tree->knows_waiting;
	report->missing_switches = swz_add_count(report->missing_switches,
						 tree->missing_switches);
	if (!by_name && !tree->knows_waiting)
		return;
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		struct function_ticks *function;

		if (!node->self_ns)
			continue;
		node->self_waiting_ns = waiting_of(
			sums, node, by_name && index != SWZ_TREE_ROOT);
		function = function_sum(sums, sums->shown[index]);
		function->self_waiting_ns = swz_add(function->self_waiting_ns,
						    node->self_waiting_ns);
	}
}

/* What is shown for it where the sum over its contexts is too little. */
static int64_t measured_ns(const struct sums *sums,
			   const struct function_ticks *function,
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

static void settle_inclusive(struct sums *sums,
			     const struct swz_inclusive_sum *inclusive,
			     int64_t total)
{
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct function_ticks *function = &sums->functions[i];
		const struct swz_inclusive_sum *sum =
			&inclusive[function->function];
		int64_t ns = sum->ns;

		if (function->function != SWZ_CATALOG_OUTSIDE &&
		    (sum->split || sums->folded))
			ns = measured_ns(sums, function, sum, total);
		if (ns < function->self_ns)
			ns = function->self_ns;
		function->split = ns > sum->ns;
		function->inclusive = (struct shown_sum){.ns = ns,
							 .below_ns = sum->ns};
		function->waiting = (struct shown_sum){
			.ns = sum->ns ? part_of(sums, ns, sum->waiting_ns,
						sum->ns)
				      : 0,
			.below_ns = sum->waiting_ns};
		if (sum->recursive || sum->split)
			mark_recursive(sums, function->function);
	}
}

/* An edge's part of its callee's SUM: of a split function also of what that has
 * more than lies below the contexts. */
static int64_t edge_part(const struct sums *sums, struct shown_sum *sum,
			 int64_t ns)
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

static void flush_functions(struct swz_report *report, const struct sums *sums)
{
	const struct swz_profile *profile = sums->binding->profile;
	double ns_per_tick = (double)swz_profile_ns(profile, 1 << 30) /
			     (1 << 30);
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		const struct function_ticks *from = &sums->functions[i];
		struct swz_report_function *to = report_function(
			report, from->function);

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

static void flush_edges(struct swz_report *report, struct sums *sums,
			const struct swz_inclusive_edge *edge_sums)
{
	size_t i;

	for (i = 0; i < sums->edge_count; i++) {
		const struct edge_ticks *from = &sums->edges[i];
		struct swz_report_edge *to = report_edge(report, from);
		struct function_ticks *callee = function_sum(sums,
							     from->callee);

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

static void flush(struct swz_report *report, struct sums *sums, int64_t total)
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

static uint32_t *no_edges(size_t count)
{
	uint32_t *edges = swz_allocate(count, sizeof(*edges));
	size_t i;

	for (i = 0; i < count; i++)
		edges[i] = NO_EDGE;
	return edges;
}

void swz_report_add(struct swz_report *report, struct swz_binding *binding,
		    struct swz_tree *tree)
{
	struct sums sums = {.binding = binding,
			    .tree = tree,
			    .with_edges = !report->without_edges,
			    .unit_ns = report->unit_ns > 1 ? report->unit_ns
							   : 1};
	int64_t total;

	find_shown(&sums);
	if (sums.with_edges)
		sums.edge_of = no_edges(tree->count);
	add_contexts(&sums);
	add_nodes(&sums);
	total = settle_folded(&sums);
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
	free(sums.shown);
	free(sums.functions);
	free(sums.edges);
	free(sums.edge_of);
	free(sums.function_index);
	swz_map_free(&sums.edge_index);
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
			merge_function(report_function(to, i),
				       &from->functions[i]);
	to->thread_count += from->thread_count;
	to->knows_waiting |= from->knows_waiting;
	to->knows_switches |= from->knows_switches;
	to->missing_switches = swz_add_count(to->missing_switches,
					     from->missing_switches);
	to->sampled |= from->sampled;
	to->samples |= from->samples;
	to->total_ns = swz_add(to->total_ns, from->total_ns);
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
	swz_hits_sort(&report->hits);
}

void swz_report_free(struct swz_report *report)
{
	free(report->functions);
	free(report->edges);
	swz_map_free(&report->edge_index);
	swz_hits_free(&report->hits);
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
