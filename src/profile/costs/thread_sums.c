/* One thread's tree is summed by function and by call: in ticks for what its
 * nodes say, in ns for inclusive times, which are sums of rounded self times.
 */

#include "profile/costs/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/call_tree.h"
#include "profile/names/catalog.h"

/* --- one thread, in ticks ------------------------------------------------ */

/* Hidden contexts count for the nearest shown function above them. A folded
 * node's time was spent in a context that is not known but within the function
 * that holds its call site; it is taken from that function's self time.
 *
 * A context without calls and time was not there in the range of time that was
 * asked for: it makes no row. */

#define NO_EDGE UINT32_MAX

/* Functions are added to the catalog while nodes are added. */
static void extend_index(struct swz_thread_sums *sums)
{
	size_t count = sums->binding->catalog->function_count;

	count += count / 2;
	sums->function_index = swz_reallocate(sums->function_index, count,
					      sizeof(*sums->function_index));
	while (sums->indexed < count)
		sums->function_index[sums->indexed++] = 0;
}

struct swz_function_ticks *swz_thread_sums_function(
	struct swz_thread_sums *sums, uint32_t function)
{
	uint32_t *found;

	if (function >= sums->indexed)
		extend_index(sums);
	found = &sums->function_index[function];
	if (!*found) {
		swz_grow(&sums->functions, &sums->function_capacity,
			 sums->function_count, sizeof(*sums->functions));
		sums->functions[sums->function_count++] =
			(struct swz_function_ticks){.function = function};
		*found = (uint32_t)sums->function_count;
	}
	return &sums->functions[*found - 1];
}

static struct swz_edge_ticks *edge_sum(struct swz_thread_sums *sums,
				       uint32_t caller, uint32_t callee,
				       uint32_t place)
{
	uint32_t *found = swz_map_at(&sums->edge_index,
				     (uint64_t)caller << 32 | callee, place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&sums->edges, &sums->edge_capacity, sums->edge_count,
			 sizeof(*sums->edges));
		*found = (uint32_t)sums->edge_count++;
		sums->edges[*found] = (struct swz_edge_ticks){
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

static uint32_t catalog_function(struct swz_thread_sums *sums,
				 const struct swz_tree_node *node)
{
	return swz_binding_function(sums->binding, node->function, node->id);
}

/* Parents come before children in tree->contexts. */
static void find_shown(struct swz_thread_sums *sums)
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

static void add_contexts(struct swz_thread_sums *sums)
{
	const struct swz_tree *tree = sums->tree;
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		const struct swz_tree_node *node = &tree->nodes[index];
		struct swz_function_ticks *sum;

		if (!node->self && node->self_variance == 0 &&
		    index != SWZ_TREE_ROOT)
			continue; /* its calls, if any, are add_nodes' */
		sum = swz_thread_sums_function(sums, sums->shown[index]);
		sum->self = swz_add(sum->self, node->self);
		sum->variance += node->self_variance;
		if (tree->samples && index == SWZ_TREE_ROOT)
			sum->calls = swz_add_count(sum->calls, node->calls);
	}
}

void swz_thread_sums_mark_recursive(struct swz_thread_sums *sums,
				    uint32_t function)
{
	sums->binding->catalog->functions[function].recursive = true;
}

static uint32_t caller_of(struct swz_thread_sums *sums,
			  const struct swz_tree_node *node)
{
	if (node->folded_caller != SWZ_INDEX_NONE)
		return swz_binding_function(sums->binding, node->folded_caller,
					    0);
	return sums->shown[node->parent];
}

/* Takes a folded node's time from its caller. Returns the caller that is to be
 * shown. It may make the call while another of its callees is active, as far
 * as one can tell: what it calls is no longer disjoint. */
static uint32_t take_folded(struct swz_thread_sums *sums,
			    const struct swz_tree_node *node, uint32_t caller)
{
	struct swz_function_ticks *sum;
	int64_t cost = swz_tree_cost_outside(sums->tree, node);

	/* takes no time, and its caller may be hidden as well: no row */
	if (sums->tree->counts && is_hidden(node))
		return caller;
	sum = swz_thread_sums_function(sums, caller);
	sum->taken = swz_add(sum->taken, swz_add(node->ticks, cost));
	if (node->folded_caller == SWZ_INDEX_NONE && !is_hidden(node)) {
		/* a viewer has to see that it is called by somebody */
		if (sums->with_edges && !sums->tree->counts)
			edge_sum(sums, SWZ_CATALOG_OUTSIDE, SWZ_CATALOG_UNKNOWN,
				 SWZ_PLACE_UNKNOWN)
				->calls = 1;
		swz_thread_sums_function(sums, SWZ_CATALOG_UNKNOWN);
		caller = SWZ_CATALOG_UNKNOWN;
	}
	if (sums->tree->counts)
		return caller; /* there are no times to be made disjoint */
	swz_thread_sums_mark_recursive(sums, caller);
	sums->folded |= node->calls || node->ticks;
	return caller;
}

static void add_edge(struct swz_thread_sums *sums,
		     const struct swz_tree_node *node, uint32_t caller,
		     uint32_t callee)
{
	uint32_t place = swz_binding_place(sums->binding, node->call_site,
					   caller);
	struct swz_edge_ticks *edge = edge_sum(sums, caller, callee, place);

	swz_thread_sums_function(
		sums, caller); /* that an edge leads from has a row */
	edge->calls = swz_add_count(edge->calls, node->calls);
	if (sums->tree->counts &&
	    swz_binding_is_jump(sums->binding, node->call_site, caller, callee))
		edge->jumps = swz_add_count(edge->jumps, node->calls);
	sums->edge_of[node - sums->tree->nodes] = (uint32_t)(edge -
							     sums->edges);
}

static void add_call(struct swz_thread_sums *sums,
		     const struct swz_tree_node *node, uint32_t caller)
{
	const struct swz_tree *tree = sums->tree;
	uint32_t callee = catalog_function(sums, node);
	struct swz_function_ticks *sum = swz_thread_sums_function(sums, callee);

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
		swz_thread_sums_mark_recursive(sums, callee);
	}
}

#define PROGRESS_EVERY 16384u

static void add_nodes(struct swz_thread_sums *sums)
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
static int64_t scale_self(struct swz_thread_sums *sums, int64_t numerator,
			  int64_t denominator)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct swz_function_ticks *function = &sums->functions[i];

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
static int64_t settle_folded(struct swz_thread_sums *sums)
{
	int64_t wanted = 0, sum = 0;
	size_t i;

	for (i = 0; i < sums->function_count; i++) {
		struct swz_function_ticks *function = &sums->functions[i];

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

static uint32_t *no_edges(size_t count)
{
	uint32_t *edges = swz_allocate(count, sizeof(*edges));
	size_t i;

	for (i = 0; i < count; i++)
		edges[i] = NO_EDGE;
	return edges;
}

int64_t swz_thread_sums_add(struct swz_thread_sums *sums)
{
	find_shown(sums);
	if (sums->with_edges)
		sums->edge_of = no_edges(sums->tree->count);
	add_contexts(sums);
	add_nodes(sums);
	return settle_folded(sums);
}

void swz_thread_sums_free(struct swz_thread_sums *sums)
{
	free(sums->shown);
	free(sums->functions);
	free(sums->edges);
	free(sums->edge_of);
	free(sums->function_index);
	swz_map_free(&sums->edge_index);
}

/* --- inclusive times ----------------------------------------------------- */

/* One walk over the contexts, parents first, which knows how often each
 * function is on the path. */

struct walk {
	const struct swz_inclusive *in;
	uint32_t *path; /* functions */
	size_t capacity;
	uint32_t depth;
	uint32_t *times;  /* per function: how often it is on the path */
	uint32_t *depths; /* per node: the path's length with it */
};

static void sum_below(struct swz_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];

		node->below_ns = node->self_ns;
		node->below_waiting_ns = node->self_waiting_ns;
		node->below_calls = node->calls;
	}
	for (i = tree->context_count; i-- > 1;) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		struct swz_tree_node *parent = &tree->nodes[node->parent];

		parent->below_ns = swz_add(parent->below_ns, node->below_ns);
		parent->below_waiting_ns = swz_add(parent->below_waiting_ns,
						   node->below_waiting_ns);
		parent->below_calls = swz_add_count(parent->below_calls,
						    node->below_calls);
	}
}

static void leave(struct walk *walk, uint32_t depth)
{
	while (walk->depth > depth)
		walk->times[walk->path[--walk->depth]]--;
}

/* Returns whether the function is topmost. */
static bool enter(struct walk *walk, uint32_t function)
{
	swz_grow(&walk->path, &walk->capacity, walk->depth,
		 sizeof(*walk->path));
	walk->path[walk->depth++] = function;
	return walk->times[function]++ == 0;
}

static void visit(struct walk *walk, uint32_t index)
{
	const struct swz_inclusive *in = walk->in;
	const struct swz_tree_node *node = &in->tree->nodes[index];
	struct swz_inclusive_sum *sum = &in->functions[in->shown[index]];
	uint32_t edge = in->edges ? in->edges[index] : NO_EDGE;

	if (!enter(walk, in->shown[index])) {
		sum->recursive = true;
		return;
	}
	sum->ns = swz_add(sum->ns, node->below_ns);
	sum->waiting_ns = swz_add(sum->waiting_ns, node->below_waiting_ns);
	sum->topmost_ticks = swz_add(sum->topmost_ticks,
				     swz_tree_inclusive(in->tree, node));
	sum->split |= node->top != index;
	if (edge != NO_EDGE) {
		struct swz_inclusive_edge *of = &in->edge_sums[edge];

		of->ns = swz_add(of->ns, node->below_ns);
		of->waiting_ns = swz_add(of->waiting_ns,
					 node->below_waiting_ns);
		of->samples = swz_add_count(of->samples, node->below_calls);
	}
}

void swz_inclusive_derive(const struct swz_inclusive *inclusive)
{
	const struct swz_tree *tree = inclusive->tree;
	struct walk walk = {.in = inclusive};
	size_t i;

	sum_below(inclusive->tree);
	walk.times = swz_allocate(inclusive->function_count,
				  sizeof(*walk.times));
	walk.depths = swz_allocate(tree->count, sizeof(*walk.depths));
	visit(&walk, SWZ_TREE_ROOT);
	walk.depths[SWZ_TREE_ROOT] = walk.depth;
	for (i = 1; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		const struct swz_tree_node *node = &tree->nodes[index];

		leave(&walk, walk.depths[node->parent]);
		if (!(node->flags & SWZ_NODE_HIDDEN))
			visit(&walk, index);
		walk.depths[index] = walk.depth;
	}
	free(walk.path);
	free(walk.times);
	free(walk.depths);
}
