/* What is added of a context is its self time in ns, without the hooks' cost,
 * as tables show it: those add up exactly, where ticks of several clocks and
 * calls of several costs would not.
 *
 * Calls whose caller's context is not known (--max-memory) are added below a
 * context of that caller which stands beneath the root. */

#include "profile/costs/merge.h"

#include <stdlib.h>
#include <string.h>

#include "profile/costs/aggregate.h"
#include "profile/costs/merge_description.h"
#include "profile/costs/merge_names.h"
#include "profile/costs/merge_ranks.h"
#include "profile/costs/tree.h"
#include "profile/file/kind.h"
#include "profile/file/ranks.h"
#include "profile/file/thread_times.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE
#define ANOTHER_CONTEXT \
	(1ull << 63) /* in the key of a node: its time is there */

struct extremes {
	int64_t min_ticks, max_ticks; /* of calls that have ended; 0: none */
	bool taken;                   /* what is shown of calls that have not */
};

struct adding {
	struct swz_merge_names names;
	struct swz_binding *binding;
	const struct swz_report *report; /* of the thread */
	struct extremes *extremes;       /* by the report's functions */
	struct swz_merge_thread *thread;
	const struct swz_tree *tree;
	uint32_t *places; /* of the tree's contexts in the thread */
};

static struct swz_merge_thread *thread_named(struct swz_merge *merge,
					     const char *name, bool has_rank)
{
	struct swz_merge_thread *thread;
	size_t i;

	name = swz_intern(&merge->strings, name);
	for (i = 0; i < merge->thread_count; i++)
		if (merge->threads[i].name == name &&
		    merge->threads[i].has_rank == has_rank)
			return &merge->threads[i];
	swz_grow(&merge->threads, &merge->thread_capacity, merge->thread_count,
		 sizeof(*merge->threads));
	thread = &merge->threads[merge->thread_count++];
	*thread = (struct swz_merge_thread){.name = name, .has_rank = has_rank};
	swz_grow(&thread->nodes, &thread->capacity, 0, sizeof(*thread->nodes));
	thread->nodes[thread->count++] = (struct swz_merge_node){
		.function = SWZ_FUNCTION_ROOT, .site_module = NONE};
	return thread;
}

static bool is_node(const struct swz_merge_thread *thread, uint32_t index,
		    const struct swz_merge_node *wanted)
{
	const struct swz_merge_node *node;

	if (index >= thread->count)
		return false;
	node = &thread->nodes[index];
	return node->function == wanted->function &&
	       node->parent == wanted->parent && node->site == wanted->site &&
	       node->site_module == wanted->site_module &&
	       (node->context == index) == (wanted->context == NONE);
}

static uint32_t find_node(struct swz_merge_thread *thread,
			  const struct swz_merge_node *wanted);

/* The node of those calls, which is made if there is none; CONTEXT NONE: it is
 * a context itself. Runs of one program come to the same ones in the same
 * order, mostly: so the next one is tried first. */
static uint32_t node_of(struct swz_merge_thread *thread,
			const struct swz_merge_node *wanted)
{
	if (!is_node(thread, ++thread->last, wanted))
		thread->last = find_node(thread, wanted);
	return thread->last;
}

static uint32_t find_node(struct swz_merge_thread *thread,
			  const struct swz_merge_node *wanted)
{
	uint64_t site = wanted->site & ((1ull << 44) - 1);
	bool own = wanted->context == NONE;
	uint32_t *found;

	if (wanted->site_module != NONE)
		site |= ((uint64_t)wanted->site_module + 1) << 44;
	found = swz_map_at(&thread->index,
			   (uint64_t)wanted->parent << 32 | wanted->function,
			   own ? site : site | ANOTHER_CONTEXT);
	if (*found != SWZ_MAP_NONE)
		return *found;
	*found = (uint32_t)thread->count;
	swz_grow(&thread->nodes, &thread->capacity, thread->count,
		 sizeof(*thread->nodes));
	thread->nodes[thread->count] = *wanted;
	if (own)
		thread->nodes[thread->count].context = *found;
	return (uint32_t)thread->count++;
}

static uint32_t function_of(struct adding *adding,
			    const struct swz_tree_node *node)
{
	if (node->function != NONE)
		return swz_merge_function(&adding->names, node->function);
	return node->id >= SWZ_MERGE_SPECIAL ? node->id : NONE;
}

/* Where a folded node hangs: below a context of its caller alone. */
static uint32_t place_of_caller(struct adding *adding,
				const struct swz_tree_node *node)
{
	struct swz_merge_node caller = {.context = NONE, .site_module = NONE};

	if (node->folded_caller == NONE)
		return SWZ_TREE_ROOT;
	caller.function = swz_merge_function(&adding->names,
					     node->folded_caller);
	return node_of(adding->thread, &caller);
}

static uint32_t place_of(struct adding *adding, uint32_t index)
{
	const struct swz_tree_node *node = &adding->tree->nodes[index];
	bool folded = node->flags & SWZ_NODE_FOLDED;
	struct swz_merge_node wanted = {
		.flags = node->flags & SWZ_NODE_HIDDEN,
		.context = NONE,
	};

	if (folded && node->id == SWZ_FUNCTION_ROOT)
		return SWZ_TREE_ROOT;
	wanted.function = function_of(adding, node);
	if (wanted.function == NONE) /* forged: its time is its parent's */
		return adding->places[node->parent];
	wanted.parent = folded ? place_of_caller(adding, node)
			       : adding->places[node->parent];
	if (node->context != index && !folded)
		wanted.context = adding->places[node->context];
	swz_merge_site(&adding->names, node->call_site, &wanted);
	return node_of(adding->thread, &wanted);
}

/* NULL: it has none. */
static struct extremes *extremes_of(const struct adding *adding,
				    const struct swz_tree_node *node)
{
	uint32_t function;

	if (node->id == SWZ_FUNCTION_ROOT || node->flags & SWZ_NODE_HIDDEN ||
	    (!node->calls && !node->ticks))
		return NULL;
	function = swz_binding_function(adding->binding, node->function,
					node->id);
	return function < adding->report->function_capacity
		       ? &adding->extremes[function]
		       : NULL;
}

static int64_t ns_of(const struct adding *adding, int64_t ticks)
{
	return swz_profile_ns(adding->names.profile, ticks);
}

/* The shortest and the longest call of each function, before and after the
 * hooks' cost is taken from them: those of its contexts are in proportion. */
static void find_extremes(struct adding *adding)
{
	size_t i;

	adding->extremes = swz_allocate(adding->report->function_capacity,
					sizeof(*adding->extremes));
	for (i = 1; i < adding->tree->count; i++) {
		const struct swz_tree_node *node = &adding->tree->nodes[i];
		struct extremes *of = extremes_of(adding, node);

		if (of && node->min_ticks &&
		    (!of->min_ticks || node->min_ticks < of->min_ticks))
			of->min_ticks = node->min_ticks;
		if (of && node->max_ticks > of->max_ticks)
			of->max_ticks = node->max_ticks;
	}
}

static void add_extremes(const struct adding *adding,
			 const struct swz_tree_node *node,
			 struct swz_merge_node *to)
{
	struct extremes *of = extremes_of(adding, node);
	const struct swz_report_function *shown;
	int64_t min, max;

	if (!of)
		return;
	shown = &adding->report->functions[of - adding->extremes];
	min = of->min_ticks
		      ? swz_scale(node->min_ticks, (uint64_t)shown->min_ns,
				  (uint64_t)of->min_ticks)
	      : of->taken ? 0
			  : shown->min_ns;
	max = of->max_ticks
		      ? swz_scale(node->max_ticks, (uint64_t)shown->max_ns,
				  (uint64_t)of->max_ticks)
	      : of->taken ? 0
			  : shown->max_ns;
	of->taken = true;
	if (min && (!to->min_ns || min < to->min_ns))
		to->min_ns = min;
	if (max > to->max_ns)
		to->max_ns = max;
}

static void add_costs(const struct adding *adding, uint32_t index,
		      struct swz_merge_node *to)
{
	const struct swz_tree_node *node = &adding->tree->nodes[index];

	to->calls = swz_add_count(to->calls, node->calls);
	to->unwound = swz_add_count(to->unwound, node->unwound);
	if (node->uncounted)
		to->flags |= SWZ_NODE_RESUMED;
	if (node->context == index) {
		to->ns = swz_add(to->ns, node->self_ns);
		to->waiting_ns = swz_add(to->waiting_ns, node->self_waiting_ns);
	} else if (to->context != (uint32_t)(to - adding->thread->nodes)) {
		to->ns = swz_add(
			to->ns,
			ns_of(adding, swz_tree_inclusive(adding->tree, node)));
	}
	to->outer_ns = swz_add(
		to->outer_ns,
		ns_of(adding, swz_tree_inclusive(adding->tree, node)));
	add_extremes(adding, node, to);
}

/* Contexts first, parents before children: nodes refer to them. (What finds a
 * place may move the thread's nodes.) */
static void add_tree(struct adding *adding)
{
	const struct swz_tree *tree = adding->tree;
	struct swz_merge_thread *thread = adding->thread;
	uint32_t place, i;

	adding->places = swz_allocate(tree->count, sizeof(*adding->places));
	find_extremes(adding);
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];

		adding->places[index] = index == SWZ_TREE_ROOT
						? 0
						: place_of(adding, index);
		add_costs(adding, index, &thread->nodes[adding->places[index]]);
	}
	for (i = 1; i < tree->count; i++) {
		if (tree->nodes[i].context == i)
			continue;
		place = place_of(adding, i);
		add_costs(adding, i, &thread->nodes[place]);
	}
	free(adding->extremes);
	free(adding->places);
}

/* Returns where it was added. Notes COSTS, unless they are NULL. */
static uint32_t add_thread(struct swz_merge_names *names,
			   struct swz_binding *binding, size_t index,
			   struct swz_merge_costs *costs)
{
	const struct swz_profile_thread *thread =
		&names->profile->threads[index];
	struct swz_thread_times times = swz_thread_times(names->profile,
							 thread);
	struct adding adding = {
		.names = *names,
		.binding = binding,
		.thread = thread_named(
			names->merge, thread->name,
			swz_profile_thread_has_rank(names->profile, index))};
	uint32_t place = (uint32_t)(adding.thread - names->merge->threads);
	struct swz_report report = {.without_edges = true};
	struct swz_tree tree;

	swz_tree_build(&tree, names->profile, thread, true);
	swz_report_add(&report, binding, &tree); /* sets self_ns */
	adding.tree = &tree;
	adding.report = &report;
	add_tree(&adding);
	*names = adding.names;
	adding.thread->raw_ns = swz_add(
		adding.thread->raw_ns,
		swz_profile_ns(names->profile, tree.total_ticks));
	adding.thread->processor_ns = swz_add(adding.thread->processor_ns,
					      times.processor_ns);
	adding.thread->processor_known |= times.known;
	if (costs)
		swz_merge_costs_note(costs, place, &report);
	swz_report_free(&report);
	swz_tree_free(&tree);
	return place;
}

static void add_threads(struct swz_merge *merge, struct swz_profile *profile)
{
	struct swz_catalog_options options = {.quiet = true};
	struct swz_catalog catalog;
	struct swz_binding binding;
	struct swz_merge_names names;
	struct swz_merge_costs costs = {0};
	uint32_t *places = swz_allocate(profile->thread_count + 1,
					sizeof(*places));
	bool has_rank = !profile->ranks &&
			swz_profile_rank(profile) != SWZ_INDEX_NONE;
	size_t i;

	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_merge_names_begin(&names, merge, profile);
	for (i = 0; i < profile->thread_count; i++)
		places[i] = add_thread(&names, &binding, i,
				       has_rank ? &costs : NULL);
	if (has_rank)
		swz_merge_add_rank(&names, &binding, &costs);
	swz_merge_add_ranks(&names, places);
	swz_merge_names_end(&names);
	free(places);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
}

/* ------------------------------------------------------------ sources */

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return hash;
}

static struct swz_merged_record source_of(const struct swz_profile *profile)
{
	return (struct swz_merged_record){
		.host = hash_of(swz_profile_label(profile, "host")),
		.pid = (uint32_t)profile->header.pid,
		.process_start = profile->header.process_start,
		.start_realtime_ns = profile->header.start_realtime_ns};
}

static uint32_t *source_at(struct swz_merge *merge,
			   const struct swz_merged_record *source)
{
	return swz_map_at(&merge->by_source,
			  source->host ^ source->process_start << 32 ^
				  source->pid,
			  source->start_realtime_ns);
}

static void add_source(struct swz_merge *merge,
		       const struct swz_merged_record *source)
{
	*source_at(merge, source) = (uint32_t)merge->source_count;
	swz_grow(&merge->sources, &merge->source_capacity, merge->source_count,
		 sizeof(*merge->sources));
	merge->sources[merge->source_count++] = *source;
}

enum swz_merge_status swz_merge_add(struct swz_merge *merge,
				    struct swz_profile *profile)
{
	struct swz_merged_record own = source_of(profile);
	const struct swz_merged_record *sources = profile->sources;
	size_t count = profile->source_count, known = 0, i;
	bool merged = profile->header.flags & SWZ_FILE_MERGED;

	if (!merged) {
		sources = &own;
		count = 1;
	}
	if (profile->header.flags & SWZ_FILE_SAMPLED)
		return SWZ_MERGE_SAMPLED;
	if (!swz_profile_ranks_are_whole(profile))
		return SWZ_MERGE_DAMAGED;
	if (merge->executable &&
	    swz_kind_of(&merge->header) != swz_kind_of(&profile->header))
		return SWZ_MERGE_KIND;
	for (i = 0; i < count; i++)
		known += *source_at(merge, &sources[i]) != SWZ_MAP_NONE;
	if (known)
		return known == count ? SWZ_MERGE_KNOWN : SWZ_MERGE_PARTLY;
	swz_merge_description(merge, profile);
	add_threads(merge, profile);
	for (i = 0; i < count; i++)
		add_source(merge, &sources[i]);
	return SWZ_MERGE_ADDED;
}

void swz_merge_free(struct swz_merge *merge)
{
	size_t i;

	for (i = 0; i < merge->thread_count; i++) {
		free(merge->threads[i].nodes);
		swz_map_free(&merge->threads[i].index);
	}
	free(merge->threads);
	free(merge->arguments);
	free(merge->labels);
	free(merge->modules);
	free(merge->functions);
	free(merge->symbols);
	free(merge->lines);
	free(merge->sources);
	for (i = 0; i < merge->rank_count; i++)
		free(merge->ranks[i].packed);
	free(merge->ranks);
	swz_map_free(&merge->by_rank);
	swz_map_free(&merge->by_address);
	swz_map_free(&merge->by_name);
	swz_map_free(&merge->by_symbol);
	swz_map_free(&merge->by_line);
	swz_map_free(&merge->by_source);
	swz_intern_free(&merge->strings);
	*merge = (struct swz_merge){0};
}
