/* The sampled contexts are walked along the recorded ones, from the root on. A
 * sampled frame leads to
 *
 * - the recorded call of the function from there, from the same place if there
 *   is one;
 * - the function's own context on the path, where recursion was folded;
 * - the function further below, where the recorded run has calls in between of
 *   which the stack knows nothing: a tail call leaves no frame behind.
 *
 * A frame of a function without recorded calls leads nowhere: the walk goes on
 * from where it is. Where a frame cannot be found its path is lost, until a
 * function comes that has one context only. A sample that ends on a lost path
 * still is one of its function; the function's other samples say where it
 * belongs.
 *
 * Where calls were counted without times (-m count), no context was recorded.
 * Then the contexts are the samples', and a call edge keeps its count in a
 * folded context: its caller, beneath a caller that is not known. */

#include "profile/costs/runs.h"

#include <stdlib.h>

#include "util/memory.h"
#include "profile/names/catalog.h"

#define NONE UINT32_MAX
#define MOST_TRIED \
	64u /* contexts of a function, to be looked for further \
	     * below */

/* For one function. */
struct shared {
	uint64_t samples;
	uint64_t placed_samples; /* of which the context is known */
	int64_t ns;
	int64_t placed_ns;
	int64_t recorded_ns; /* of the contexts, as they were recorded */
	uint64_t calls;
	uint64_t own_calls; /* of contexts that are not folded */
	int64_t done; /* of the weight of its contexts, and of ns, while it */
	int64_t done_ns;    /* is divided */
	bool split;         /* what it calls is not all below it */
	int64_t below_ns;   /* what is below its contexts, if split */
	int64_t edges_done; /* of that: of edges that had their part */
	int64_t parts_done; /* of what is shown: these parts */
	uint32_t first; /* of its contexts, or NONE; next: see contexts_of */
	uint32_t count;
};

/* For one sampled context. */
struct way {
	uint32_t anchor; /* the recorded context that it is in; NONE: lost */
	uint32_t at;     /* the same, or a context that was added below it */
	bool recorded;   /* the function has recorded calls */
	bool needed;     /* of other functions: it has a sample, or such below
			  */
};

/* A function's samples in what counts its calls, and in itself. */
struct counted {
	int64_t own_ns, self_ns;
	int64_t kept_ns, done_ns;
	double unsure_ns; /* of which the samples don't tell whether it is the
			   * function's or its caller's */
};

struct swz_counting {
	struct counted *functions;
	size_t count;
};

struct joining {
	struct swz_report *report;
	struct swz_contexts *contexts;
	struct swz_contexts *sampled;
	struct shared *functions;
	size_t function_count;
	double *unsure_ns;     /* per function: of those that it calls */
	size_t recorded_count; /* contexts, before any were added */
	uint32_t *next;        /* per recorded context: the function's next */
	/* (parent, function): the child with the most calls, folded or not */
	struct swz_map children;
	int64_t *recorded_ns; /* per recorded context */
	int64_t *placed_ns;   /* the same: of samples */
	struct way *ways;     /* per sampled context */
	struct swz_joined result;
	int64_t sampled_ns;            /* that samples stand for */
	struct swz_counting *counting; /* NULL: contexts were recorded */
};

static bool has_calls(const struct joining *j, uint32_t function)
{
	const struct shared *of = &j->functions[function];

	return SWZ_CATALOG_IS_REAL(function) && of->calls && of->first != NONE;
}

static void begin(struct joining *j)
{
	struct swz_context *items = j->contexts->items;
	size_t count = j->contexts->count, i;

	j->recorded_count = count;
	for (i = 0; i < count; i++)
		if (items[i].function >= j->function_count)
			j->function_count = items[i].function + 1;
	for (i = 0; i < j->sampled->count; i++)
		if (j->sampled->items[i].function >= j->function_count)
			j->function_count = j->sampled->items[i].function + 1;
	j->functions = swz_allocate(j->function_count, sizeof(*j->functions));
	for (i = 0; i < j->function_count; i++)
		j->functions[i].first = NONE;
	j->next = swz_allocate(count, sizeof(*j->next));
	j->recorded_ns = swz_allocate(count, sizeof(*j->recorded_ns));
	j->placed_ns = swz_allocate(count, sizeof(*j->placed_ns));
	j->ways = swz_allocate(j->sampled->count, sizeof(*j->ways));
}

/* Lists the recorded contexts by function and by parent, and takes their times
 * from them. */
static void list_recorded(struct joining *j)
{
	struct swz_context *items = j->contexts->items;
	uint32_t i;

	for (i = (uint32_t)j->recorded_count; i-- > 0;) {
		struct shared *of = &j->functions[items[i].function];
		uint32_t *child;

		j->recorded_ns[i] = items[i].self_ns;
		items[i].self_ns = items[i].self_waiting_ns = 0;
		of->calls = swz_add_count(of->calls, items[i].calls);
		if (i == SWZ_CONTEXT_ROOT)
			continue;
		child = swz_map_at(&j->children, items[i].parent,
				   items[i].function);
		if (*child == SWZ_MAP_NONE ||
		    items[*child].calls <= items[i].calls)
			*child = i;
		if (items[i].folded)
			continue;
		of->recorded_ns = swz_add(of->recorded_ns, j->recorded_ns[i]);
		of->own_calls = swz_add_count(of->own_calls, items[i].calls);
		j->next[i] = of->first;
		of->first = i;
		of->count++;
	}
}

/* The context of FUNCTION that is on the path to AT, or NONE. */
static uint32_t on_path(const struct joining *j, uint32_t at, uint32_t function)
{
	const struct swz_context *items = j->contexts->items;

	while (at != SWZ_CONTEXT_ROOT) {
		if (items[at].function == function && !items[at].folded)
			return at;
		at = items[at].parent;
	}
	return NONE;
}

static bool is_below(const struct joining *j, uint32_t at, uint32_t above)
{
	const struct swz_context *items = j->contexts->items;

	/* parents come first */
	while (at > above)
		at = items[at].parent;
	return at == above;
}

/* The nearest context of FUNCTION further below, or NONE. */
static uint32_t further_below(const struct joining *j, uint32_t above,
			      uint32_t function)
{
	const struct swz_context *items = j->contexts->items;
	const struct shared *of = &j->functions[function];
	uint32_t best = NONE, at;

	if (of->count > MOST_TRIED)
		return NONE;
	for (at = of->first; at != NONE; at = j->next[at])
		if (is_below(j, at, above) &&
		    (best == NONE || items[at].depth < items[best].depth ||
		     (items[at].depth == items[best].depth &&
		      items[at].calls > items[best].calls)))
			best = at;
	return best;
}

static uint32_t key_of_child(const struct joining *j, uint32_t parent,
			     uint32_t function, uint32_t place)
{
	uint32_t at = swz_map_get(&j->contexts->index, parent,
				  (uint64_t)function << 32 | place);

	if (at != SWZ_MAP_NONE && at < j->recorded_count)
		return at;
	return swz_map_get(&j->children, parent, function);
}

static uint32_t find(const struct joining *j, uint32_t from,
		     const struct swz_context *sampled)
{
	const struct shared *of = &j->functions[sampled->function];
	uint32_t at;

	if (from == NONE)
		return of->count == 1 ? of->first : NONE;
	at = key_of_child(j, from, sampled->function, sampled->place);
	if (at != SWZ_MAP_NONE && !j->contexts->items[at].folded)
		return at;
	at = on_path(j, from, sampled->function);
	if (at == NONE)
		at = further_below(j, from, sampled->function);
	return at != NONE ? at : of->count == 1 ? of->first : NONE;
}

/* A context of another function is made only where samples are: those of
 * callers alone would be rows without any time of their own. */
static void find_needed(struct joining *j)
{
	const struct swz_context *items = j->sampled->items;
	uint32_t i;

	for (i = (uint32_t)j->sampled->count; i-- > 1;) {
		struct way *way = &j->ways[i];

		way->recorded = has_calls(j, items[i].function);
		way->needed |= items[i].calls || items[i].self_ns;
		if (!way->recorded && way->needed)
			j->ways[items[i].parent].needed = true;
	}
}

/* Where the callers are not known. */
static uint32_t lost(struct joining *j)
{
	return swz_contexts_child(j->contexts, SWZ_CONTEXT_ROOT,
				  SWZ_CATALOG_UNKNOWN, SWZ_PLACE_UNKNOWN,
				  false);
}

/* The walk goes on in a context further up, ABOVE: the functions in between
 * have called what is there. */
static void note_split(struct joining *j, uint32_t from, uint32_t above)
{
	const struct swz_context *items = j->sampled->items;

	while (from != SWZ_CONTEXT_ROOT && j->ways[from].anchor != above) {
		if (j->ways[from].recorded)
			j->functions[items[from].function].split = true;
		from = items[from].parent;
	}
}

static void find_way(struct joining *j, uint32_t index)
{
	const struct swz_context *sampled = &j->sampled->items[index];
	const struct way *parent = &j->ways[sampled->parent];
	struct way *way = &j->ways[index];

	if (way->recorded) {
		way->at = way->anchor = find(j, parent->anchor, sampled);
		/* what it calls unrecorded is below one of its own, at least */
		if (way->at == NONE)
			way->at = j->functions[sampled->function].first;
		if (way->anchor != NONE && parent->anchor != NONE &&
		    !is_below(j, way->anchor, parent->anchor))
			note_split(j, sampled->parent, way->anchor);
		return;
	}
	way->anchor = sampled->function == SWZ_CATALOG_UNKNOWN ? NONE
							       : parent->anchor;
	way->at = parent->at;
	if (!way->needed)
		return;
	way->at = way->at == NONE ? lost(j) : way->at;
	if (sampled->function != SWZ_CATALOG_UNKNOWN ||
	    j->contexts->items[way->at].function != SWZ_CATALOG_UNKNOWN)
		way->at = swz_contexts_child(j->contexts, way->at,
					     sampled->function, sampled->place,
					     false);
}

/* A sampled context's own time goes to its function, to its context if that was
 * recorded and is known, or to the one that was added for it. */
static void take_time(struct joining *j, uint32_t index)
{
	const struct swz_context *sampled = &j->sampled->items[index];
	const struct way *way = &j->ways[index];
	struct shared *of = &j->functions[sampled->function];
	int64_t ns = sampled->self_ns;

	if (sampled->calls)
		j->sampled_ns = swz_add(j->sampled_ns, ns);
	if (index == SWZ_CONTEXT_ROOT || !way->recorded) {
		struct swz_context *to = &j->contexts->items[way->at];

		if (ns || sampled->calls)
			to->self_ns = swz_add(to->self_ns, ns);
		of->samples += sampled->calls;
		return;
	}
	of->samples = swz_add_count(of->samples, sampled->calls);
	of->ns = swz_add(of->ns, ns);
	if (way->anchor == NONE)
		return;
	of->placed_samples = swz_add_count(of->placed_samples, sampled->calls);
	of->placed_ns = swz_add(of->placed_ns, ns);
	j->placed_ns[way->anchor] = swz_add(j->placed_ns[way->anchor], ns);
}

static bool goes_by_stacks(const struct shared *of)
{
	return of->placed_ns && of->placed_samples >= SWZ_JOINED_ENOUGH;
}

/* How much of its function's time a context gets: see share(). */
static uint64_t weight_of(const struct joining *j, uint32_t index,
			  uint64_t *whole)
{
	const struct swz_context *context = &j->contexts->items[index];
	const struct shared *of = &j->functions[context->function];

	if (goes_by_stacks(of)) {
		*whole = (uint64_t)of->placed_ns;
		return (uint64_t)j->placed_ns[index];
	}
	if (of->recorded_ns) {
		*whole = (uint64_t)of->recorded_ns;
		return (uint64_t)j->recorded_ns[index];
	}
	*whole = of->own_calls;
	return context->calls;
}

/* Each function's time to its contexts: they add up to it, to the nanosecond.
 */
static void divide(struct joining *j)
{
	size_t i;

	for (i = 1; i < j->recorded_count; i++) {
		struct swz_context *context = &j->contexts->items[i];
		struct shared *of = &j->functions[context->function];
		uint64_t whole;
		int64_t ns;

		if (context->folded || !has_calls(j, context->function))
			continue;
		of->done = swz_add(of->done,
				   (int64_t)weight_of(j, (uint32_t)i, &whole));
		ns = --of->count ? swz_scale(of->ns, (uint64_t)of->done, whole)
				 : of->ns;
		context->self_ns = ns - of->done_ns;
		of->done_ns = ns;
	}
}

static void count_functions(struct joining *j)
{
	size_t i;

	for (i = 0; i < j->function_count; i++) {
		const struct shared *of = &j->functions[i];

		j->result.samples = swz_add_count(j->result.samples,
						  of->samples);
		if (!has_calls(j, (uint32_t)i))
			continue;
		j->result.without += !of->ns;
		if (of->ns && of->count > 1 && goes_by_stacks(of))
			j->result.by_stacks++;
		else if (of->ns && of->count > 1)
			j->result.by_proportion++;
	}
}

/* ---- the report ---- */

/* The counts stay; times, and what is known of single calls, go. */
static void forget_times(struct swz_report *report)
{
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		struct swz_report_function *function = &report->functions[i];

		*function = (struct swz_report_function){
			.present = function->present,
			.calls = function->calls,
			.unwound = function->unwound};
	}
	for (i = 0; i < report->edge_count; i++)
		report->edges[i].inclusive_ns = report->edges[i].waiting_ns = 0;
	report->knows_waiting = report->knows_switches = false;
	report->records_waiting = false;
	report->hook_ns = 0;
	report->sampled = false;
	report->total_ns = report->waiting_ns = report->unplaced_ns = 0;
	report->unknown_ns = 0;
}

/* A split function has what its stacks say, if that is more. */
static void sum_split(struct joining *j)
{
	struct swz_report *report = j->report;
	int64_t *stacks = swz_allocate(j->function_count, sizeof(*stacks));
	size_t i;

	swz_contexts_sum(j->sampled);
	for (i = 0; i < j->sampled->count; i++) {
		const struct swz_context *context = &j->sampled->items[i];

		if (context->topmost)
			stacks[context->function] = swz_add(
				stacks[context->function],
				context->inclusive_ns);
	}
	for (i = 0; i < j->function_count; i++) {
		struct swz_report_function *function;

		if (!j->functions[i].split)
			continue;
		function = swz_report_at(report, (uint32_t)i);
		j->functions[i].below_ns = function->inclusive_ns;
		function->split = stacks[i] > function->inclusive_ns;
		if (function->split)
			function->inclusive_ns = stacks[i];
	}
	free(stacks);
}

/* The edges to a function have its inclusive time. */
static void scale_edges(struct joining *j)
{
	struct swz_report *report = j->report;
	size_t i;

	for (i = 0; i < report->edge_count; i++) {
		struct swz_report_edge *edge = &report->edges[i];
		struct shared *of = &j->functions[edge->callee];
		int64_t part;

		if (!report->functions[edge->callee].split)
			continue;
		of->edges_done = swz_add(of->edges_done, edge->inclusive_ns);
		part = swz_scale(report->functions[edge->callee].inclusive_ns,
				 (uint64_t)of->edges_done,
				 (uint64_t)of->below_ns);
		edge->inclusive_ns = part - of->parts_done;
		of->parts_done = part;
	}
}

static void sum_up(struct joining *j)
{
	struct swz_report *report = j->report;
	size_t i;

	forget_times(report);
	for (i = 0; i < j->contexts->count; i++) {
		const struct swz_context *context = &j->contexts->items[i];
		struct swz_report_function *function = swz_report_at(
			report, context->function);

		function->self_ns = swz_add(function->self_ns,
					    context->self_ns);
		function->self_waiting_ns = swz_add(function->self_waiting_ns,
						    context->self_waiting_ns);
		report->total_ns = swz_add(report->total_ns, context->self_ns);
		report->waiting_ns = swz_add(report->waiting_ns,
					     context->self_waiting_ns);
		if (context->topmost) {
			function->inclusive_ns = swz_add(function->inclusive_ns,
							 context->inclusive_ns);
			function->inclusive_waiting_ns = swz_add(
				function->inclusive_waiting_ns,
				context->inclusive_waiting_ns);
		}
		/* an edge that is there without time has its count already */
		if (i && !report->without_edges && !context->folded) {
			struct swz_report_edge *edge = swz_report_edge_at(
				report,
				j->contexts->items[context->parent].function,
				context->function, context->place);

			if (!context->topmost)
				continue;
			edge->inclusive_ns = swz_add(edge->inclusive_ns,
						     context->inclusive_ns);
			edge->waiting_ns = swz_add(
				edge->waiting_ns,
				context->inclusive_waiting_ns);
		}
	}
	sum_split(j);
	scale_edges(j);
	report->raw_ns = report->total_ns;
	report->joined = true;
}

/* ---- counts of edges ---- */

/* The part that counting cost, of the time in which CALLS calls were counted.
 * In calls as short as the empty function's it is what was measured there, in
 * calls of twice that length all. In the former the processor does the work of
 * caller and function together, and beside the counting: up to the time of a
 * call of the empty function may be either's. On a processor that is shared
 * (SMT) the same takes up to twice as long. That a call does more than the
 * empty function is known where a fifth of the samples are the function's own,
 * the less so the fewer they are. */
static int64_t cost_of(struct counted *c, uint64_t calls,
		       struct swz_call_costs costs)
{
	double own, whole, once, slower, least, share, each;

	if (!calls || !costs.counted)
		return c->own_ns;
	own = (double)c->own_ns / (double)calls;
	whole = own + (double)c->self_ns / (double)calls;
	each = (double)costs.counted / 1024;
	once = each + (double)costs.plain / 1024;
	slower = 2 - 4 * (double)c->self_ns / (double)c->own_ns;
	slower = slower < 1 ? 1 : slower;
	least = whole < once            ? once
		: whole < once * slower ? whole
					: once * slower;
	share = (whole - least) / least;
	share = share > 1 ? 1 : share;
	c->unsure_ns = (1 - share) * (least - each) * (double)calls;
	if (own > each)
		own = each + (own - each) * share;
	return (int64_t)(own * (double)calls);
}

/* The function whose calls were counted in this context of counting. */
static uint32_t counted_function(const struct swz_contexts *sampled,
				 const struct swz_context *counting)
{
	return sampled->by_counted ? counting->place
				   : sampled->items[counting->parent].function;
}

static size_t function_count(const struct swz_contexts *sampled)
{
	size_t count = 0;

	for (size_t i = 0; i < sampled->count; i++) {
		const struct swz_context *item = &sampled->items[i];
		uint32_t function = item->function;

		if (function == SWZ_CATALOG_COUNTING && i)
			function = counted_function(sampled, item);
		if (function >= count)
			count = function + (size_t)1;
	}
	return count;
}

struct swz_counting *swz_counting_find(const struct swz_report *counts,
				       const struct swz_contexts *sampled,
				       struct swz_call_costs costs)
{
	struct swz_counting *counting = swz_allocate(1, sizeof(*counting));
	const struct swz_context *items = sampled->items;
	size_t count = function_count(sampled), i;
	struct counted *all = swz_allocate(count + 1, sizeof(*all)), *c;

	for (i = 1; i < sampled->count; i++) {
		if (items[i].function == SWZ_CATALOG_COUNTING) {
			c = &all[counted_function(sampled, &items[i])];
			c->own_ns = swz_add(c->own_ns, items[i].self_ns);
		} else {
			all[items[i].function].self_ns = swz_add(
				all[items[i].function].self_ns,
				items[i].self_ns);
		}
	}
	for (i = 0; i < count; i++)
		if (all[i].own_ns)
			all[i].kept_ns =
				all[i].own_ns -
				cost_of(&all[i],
					i < counts->function_capacity
						? counts->functions[i].calls
						: 0,
					costs);
	*counting = (struct swz_counting){all, count};
	return counting;
}

void swz_counting_again(struct swz_counting *counting)
{
	for (size_t i = 0; counting && i < counting->count; i++)
		counting->functions[i].done_ns = 0;
}

void swz_counting_free(struct swz_counting *counting)
{
	if (counting)
		free(counting->functions);
	free(counting);
}

/* A context of counting leaves a part to its function: all of them together
 * what is kept. */
static int64_t keep(struct counted *c, int64_t ns)
{
	int64_t before = swz_scale(c->kept_ns, (uint64_t)c->done_ns,
				   (uint64_t)c->own_ns);

	c->done_ns = swz_add(c->done_ns, ns);
	return swz_scale(c->kept_ns, (uint64_t)c->done_ns,
			 (uint64_t)c->own_ns) -
	       before;
}

/* Parts of the time of a call of OF may be the caller's; FROM is the counting
 * there. */
static void note_caller(struct joining *j, const struct swz_context *from,
			uint32_t of)
{
	const struct swz_context *items = j->sampled->items;
	const struct swz_context *caller = &items[from->parent];
	const struct counted *c = &j->counting->functions[of];

	if (caller->function == of)
		caller = &items[caller->parent];
	if (caller->function != of && caller->function < j->counting->count)
		j->unsure_ns[caller->function] += c->unsure_ns *
						  (double)from->self_ns /
						  (double)c->own_ns;
}

/* Puts the contexts of the counts, as folded ones, then those of the samples
 * with their times. */
static void put_contexts_together(struct joining *j)
{
	const struct swz_contexts *counted = j->contexts;
	const struct swz_contexts *sampled = j->sampled;
	struct swz_contexts all;
	uint32_t *to = swz_allocate(counted->count + sampled->count,
				    sizeof(*to));
	size_t i;

	swz_contexts_begin(&all, counted->items[SWZ_CONTEXT_ROOT].function,
			   true);
	all.by_offset = counted->by_offset;
	for (i = 1; i < counted->count; i++) {
		const struct swz_context *from = &counted->items[i];

		to[i] = swz_contexts_child(&all, to[from->parent],
					   from->function, from->place, true);
		swz_context_merge(&all.items[to[i]], from);
	}
	to[SWZ_CONTEXT_ROOT] = SWZ_CONTEXT_ROOT;
	for (i = 0; i < sampled->count; i++) {
		const struct swz_context *from = &sampled->items[i];
		int64_t ns = from->self_ns;

		if (from->function == SWZ_CATALOG_COUNTING && j->counting) {
			uint32_t of = counted_function(sampled, from);

			note_caller(j, from, of);
			to[i] = to[from->parent];
			ns = keep(&j->counting->functions[of], from->self_ns);
			j->result.left_out_ns = swz_add(
				j->result.left_out_ns,
				swz_sub(from->self_ns, ns));
			j->result.unsure_ns = swz_add(j->result.unsure_ns, ns);
		} else if (i)
			to[i] = swz_contexts_child(&all, to[from->parent],
						   from->function, from->place,
						   false);
		all.items[to[i]].self_ns = swz_add(all.items[to[i]].self_ns,
						   ns);
		all.items[to[i]].self_waiting_ns = swz_add(
			all.items[to[i]].self_waiting_ns,
			from->self_waiting_ns);
		j->result.samples = swz_add_count(j->result.samples,
						  from->calls);
		if (from->calls)
			j->sampled_ns = swz_add(j->sampled_ns, ns);
	}
	free(to);
	swz_contexts_free(j->contexts);
	*j->contexts = all;
}

static void join_counts(struct joining *j)
{
	struct swz_report *report = j->report;
	size_t i;

	put_contexts_together(j);
	begin(j);
	swz_contexts_sum(j->contexts);
	sum_up(j);
	report->without_times = false;
	report->ends_unseen = true;
	report->calls_by_edge = true;
	for (i = 0; i < report->function_capacity; i++) {
		if (!report->functions[i].calls)
			continue;
		j->result.without += !report->functions[i].self_ns;
		j->result.by_stacks += report->functions[i].self_ns != 0;
	}
}

/* ---- either ---- */

static void join_contexts(struct joining *j)
{
	uint32_t i;

	begin(j);
	list_recorded(j);
	find_needed(j);
	for (i = 1; i < j->sampled->count; i++)
		find_way(j, i);
	for (i = 0; i < j->sampled->count; i++)
		take_time(j, i);
	count_functions(j);
	divide(j);
	swz_contexts_sum(j->contexts);
	sum_up(j);
}

/* Samples that are left out count, too. */
static double variance_of(const struct joining *j, size_t function)
{
	double ns = (double)j->report->functions[function].self_ns;
	double unsure = 0, share;

	if (j->counting && function < j->counting->count &&
	    j->counting->functions[function].own_ns) {
		const struct counted *c = &j->counting->functions[function];

		/* 1, if not only some of the threads are shown */
		share = (double)c->done_ns / (double)c->own_ns;
		ns += share * (double)(c->own_ns - c->kept_ns);
		unsure = share * c->unsure_ns;
	}
	if (j->counting && function < j->counting->count)
		unsure += j->unsure_ns[function];
	return ns * (double)j->result.bound_ns + unsure * unsure;
}

struct swz_joined swz_join_times(struct swz_report *counts,
				 struct swz_contexts *counted,
				 struct swz_contexts *sampled,
				 int64_t period_ns,
				 struct swz_counting *counting)
{
	struct joining j = {.report = counts,
			    .contexts = counted,
			    .sampled = sampled,
			    .counting = counting};

	if (counting)
		j.unsure_ns = swz_allocate(counting->count + 1,
					   sizeof(*j.unsure_ns));
	if (counts->without_times)
		join_counts(&j);
	else
		join_contexts(&j);
	j.result.bound_ns = j.result.samples
				    ? j.sampled_ns / (int64_t)j.result.samples
				    : period_ns;
	if (j.result.bound_ns < 1)
		j.result.bound_ns = 1;
	counts->bound_ns = j.result.bound_ns;
	for (size_t i = 0; i < counts->function_capacity; i++)
		counts->functions[i].variance_ns = variance_of(&j, i);
	swz_report_sort(counts);
	swz_map_free(&j.children);
	free(j.unsure_ns);
	free(j.functions);
	free(j.next);
	free(j.recorded_ns);
	free(j.placed_ns);
	free(j.ways);
	return j.result;
}

void swz_contexts_forget_places(struct swz_contexts *contexts)
{
	struct swz_contexts merged;
	uint32_t *to = swz_allocate(contexts->count, sizeof(*to));
	size_t i;

	swz_contexts_begin(&merged, contexts->items[0].function, false);
	swz_context_merge(&merged.items[0], &contexts->items[0]);
	for (i = 1; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		to[i] = swz_contexts_child(&merged, to[context->parent],
					   context->function, SWZ_PLACE_UNKNOWN,
					   context->folded);
		swz_context_merge(&merged.items[to[i]], context);
	}
	free(to);
	swz_contexts_free(contexts);
	*contexts = merged;
	swz_contexts_sum(contexts);
}
