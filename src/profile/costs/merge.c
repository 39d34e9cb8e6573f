/* A sum of profiles is one tree for all threads of a name. Modules, functions
 * and places of each profile get numbers of the sum first, then its contexts
 * are added. */

#include "profile/costs/merge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_bucket.h"
#include "base/printable.h"
#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/costs/report.h"
#include "profile/file/inputs.h"
#include "profile/file/ranks.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"

/* --- the description ----------------------------------------------------- */

/* A sum says more of its profiles than their costs: the command of the first,
 * the labels that all have, and sums of what their headers count. */

/* Labels that say how files were called: of a profile how its own was. */
static bool is_called(const char *label)
{
	return strncmp(label, SWZ_LABEL_CALLED, strlen(SWZ_LABEL_CALLED)) == 0;
}

static void add_label(struct swz_merge *merge, const char *name,
		      const char *value)
{
	swz_grow(&merge->labels, &merge->label_capacity,
		 2 * merge->label_count + 1, sizeof(*merge->labels));
	merge->labels[2 * merge->label_count] = swz_intern(&merge->strings,
							   name);
	merge->labels[2 * merge->label_count + 1] = swz_intern(&merge->strings,
							       value);
	merge->label_count++;
}

/* A sum keeps it by path (swz_profile_called); "": by several names, or its
 * own.
 */
static void add_called(struct swz_merge *merge, const char *name,
		       const char *called)
{
	for (size_t i = 0; i < merge->label_count; i++) {
		const char **label = &merge->labels[2 * i];

		if (strcmp(label[0], name) != 0)
			continue;
		if (strcmp(label[1], called) != 0)
			label[1] = swz_intern(&merge->strings, "");
		return;
	}
	add_label(merge, name, called);
}

static void take_called(struct swz_merge *merge,
			const struct swz_profile *profile)
{
	const char *own = swz_profile_label(profile, SWZ_LABEL_CALLED);
	char *name;

	if (!(profile->header.flags & SWZ_FILE_MERGED)) {
		name = swz_print("%s %s", SWZ_LABEL_CALLED,
				 profile->executable);
		add_called(merge, name, own ? own : "");
		free(name);
		return;
	}
	for (size_t i = 0; i < profile->label_count; i++)
		if (is_called(profile->labels[2 * i]))
			add_called(merge, profile->labels[2 * i],
				   profile->labels[2 * i + 1]);
}

/* A sum of counted calls says which functions never ran. */
static bool lists_functions(const struct swz_profile *profile)
{
	uint32_t flags = profile->header.flags;

	return flags & SWZ_FILE_COUNTS &&
	       (!(flags & SWZ_FILE_MERGED) || flags & SWZ_FILE_LISTED);
}

static void take_first(struct swz_merge *merge,
		       const struct swz_profile *profile)
{
	size_t i;

	merge->header = profile->header;
	merge->header.flags &= SWZ_FILE_SAMPLES | SWZ_FILE_COUNTS |
			       SWZ_FILE_COVER | SWZ_FILE_LISTED;
	if (lists_functions(profile))
		merge->header.flags |= SWZ_FILE_LISTED;
	merge->header.lost_calls = merge->header.samples = 0;
	merge->header.lost_samples = merge->header.missed_samples = 0;
	merge->header.cut_stacks = merge->header.broken_stacks = 0;
	merge->header.unread_scripts = merge->header.lost_marks = 0;
	merge->header.lost_values = 0;
	merge->header.start_at_number = merge->header.stop_at_number = 0;
	merge->header.merged_profiles = merge->header.merged_threads = 0;
	merge->executable = swz_intern(&merge->strings, profile->executable);
	merge->cwd = swz_intern(&merge->strings, profile->cwd);
	merge->arguments = swz_allocate(profile->argument_count + 1,
					sizeof(*merge->arguments));
	for (i = 0; i < profile->argument_count; i++)
		merge->arguments[i] = swz_intern(&merge->strings,
						 profile->arguments[i]);
	merge->argument_count = profile->argument_count;
	for (i = 0; i < profile->label_count; i++)
		if (!is_called(profile->labels[2 * i]))
			add_label(merge, profile->labels[2 * i],
				  profile->labels[2 * i + 1]);
}

/* Keeps the labels that all profiles have. */
static void take_labels(struct swz_merge *merge,
			const struct swz_profile *profile)
{
	size_t kept = 0, i;

	for (i = 0; i < merge->label_count; i++) {
		const char **label = &merge->labels[2 * i];
		const char *value = is_called(label[0])
					    ? label[1]
					    : swz_profile_label(profile,
								label[0]);

		if (!value || strcmp(value, label[1]) != 0)
			continue;
		memmove(&merge->labels[2 * kept++], label, 2 * sizeof(*label));
	}
	merge->label_count = kept;
}

static void add_header(struct swz_merge *merge,
		       const struct swz_profile *profile)
{
	const struct swz_file_header *from = &profile->header;
	struct swz_file_header *to = &merge->header;
	bool merged = from->flags & SWZ_FILE_MERGED;

	to->flags |= from->flags & (SWZ_FILE_FOLDED | SWZ_FILE_FILTERED);
	to->lost_calls = swz_add_count(to->lost_calls, from->lost_calls);
	to->samples = swz_add_count(to->samples, from->samples);
	to->lost_samples = swz_add_count(to->lost_samples, from->lost_samples);
	to->missed_samples = swz_add_count(to->missed_samples,
					   from->missed_samples);
	to->cut_stacks = swz_add_count(to->cut_stacks, from->cut_stacks);
	to->broken_stacks = swz_add_count(to->broken_stacks,
					  from->broken_stacks);
	to->unread_scripts = swz_add_count(to->unread_scripts,
					   from->unread_scripts);
	to->sample_flags |= from->sample_flags;
	if (from->full)
		to->full = from->full;
	if (from->start_realtime_ns < to->start_realtime_ns)
		to->start_realtime_ns = from->start_realtime_ns;
	if (from->root_pid != to->root_pid ||
	    from->root_start != to->root_start) {
		to->root_pid = 0;
		to->root_start = 0;
	}
	to->merged_profiles = swz_add_count(to->merged_profiles,
					    merged ? from->merged_profiles : 1);
	to->merged_threads = swz_add_count(to->merged_threads,
					   merged ? from->merged_threads
						  : profile->thread_count);
}

static void merge_description(struct swz_merge *merge,
			      const struct swz_profile *profile)
{
	if (!merge->executable)
		take_first(merge, profile);
	take_labels(merge, profile);
	take_called(merge, profile);
	add_header(merge, profile);
}

#define NONE SWZ_INDEX_NONE

/* --- ranks --------------------------------------------------------------- */

/* A sum of profiles keeps what each rank of a parallel program has spent in
 * each function. The trees of a sum do not tell ranks apart. */

/* Each rank's costs are packed at any time but when something is added to them:
 * there may be thousands, and most of them are of one profile. */

/* ---- of one rank ---- */

/* For one profile; zero-initialise it. */
struct swz_merge_costs {
	struct swz_rank_cost *items; /* `thread` is the sum's, `function` the
				      * catalog's */
	size_t count, capacity;
};

/* Takes the host of the process with the least number. */
static struct swz_merge_rank *rank_at(struct swz_merge *merge, uint32_t rank,
				      int32_t pid, const char *host)
{
	uint32_t *found = swz_map_at(&merge->by_rank, rank, 0);
	struct swz_merge_rank *to;

	host = swz_intern(&merge->strings, host);
	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)merge->rank_count;
		swz_grow(&merge->ranks, &merge->rank_capacity,
			 merge->rank_count, sizeof(*merge->ranks));
		merge->ranks[merge->rank_count++] = (struct swz_merge_rank){
			.rank = rank, .pid = pid, .host = host};
	}
	to = &merge->ranks[*found];
	if (pid < to->pid ||
	    (pid == to->pid &&
	     strcmp(host ? host : "", to->host ? to->host : "") < 0)) {
		to->pid = pid;
		to->host = host;
	}
	return to;
}

/* COSTS have the numbers of the chunk; frees them. */
static void add_rank_costs(struct swz_merge_rank *to,
			   struct swz_rank_cost *costs, size_t count)
{
	size_t all = count + to->cost_count;

	if (to->cost_count) {
		costs = swz_reallocate(costs, all, sizeof(*costs));
		/* (it is what was packed here) */
		if (!swz_rank_costs_unpack(to->packed, to->bytes, costs + count,
					   to->cost_count))
			all = count;
	}
	to->cost_count = (uint32_t)swz_rank_costs_sort(costs, all);
	free(to->packed);
	to->packed = swz_rank_costs_pack(costs, to->cost_count, &to->bytes);
	free(costs);
}

/* ---- a process ---- */

/* Notes what REPORT, which is of one thread, has. */
static void merge_costs_note(struct swz_merge_costs *costs, uint32_t thread,
			     const struct swz_report *report)
{
	uint32_t i;

	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *of = &report->functions[i];

		if (!of->present)
			continue;
		swz_grow(&costs->items, &costs->capacity, costs->count,
			 sizeof(*costs->items));
		costs->items[costs->count++] = (struct swz_rank_cost){
			.thread = thread,
			.function = i,
			.calls = of->calls,
			.self_ns = of->self_ns,
			.inclusive_ns = of->inclusive_ns};
	}
}

/* By the catalog's functions: one of the profile's that stands for it. */
static uint32_t *invert(const struct swz_binding *binding)
{
	size_t count = binding->catalog->function_count;
	uint32_t *functions = swz_allocate(count, sizeof(*functions));
	size_t i;

	for (i = 0; i < count; i++)
		functions[i] = NONE;
	for (i = binding->profile->function_count; i-- > 0;)
		if (binding->functions[i] != NONE)
			functions[binding->functions[i]] = (uint32_t)i;
	return functions;
}

/* NONE: none of the profile's (nothing is spent in those that are unknown). */
static uint32_t number_of(struct swz_merge_names *names, uint32_t function,
			  const uint32_t *functions)
{
	switch (function) {
	case SWZ_CATALOG_OUTSIDE:
		return UINT32_MAX - SWZ_FUNCTION_ROOT;
	case SWZ_CATALOG_UNTRACED:
		return UINT32_MAX - SWZ_FUNCTION_UNTRACED;
	case SWZ_CATALOG_KERNEL:
		return UINT32_MAX - SWZ_FUNCTION_KERNEL;
	case SWZ_CATALOG_UNSAMPLED:
		return UINT32_MAX - SWZ_FUNCTION_UNSAMPLED;
	case SWZ_CATALOG_COUNTING:
		return UINT32_MAX - SWZ_FUNCTION_COUNTING;
	default:
		if (functions[function] == NONE)
			return NONE;
		return swz_merge_function(names, functions[function]) +
		       SWZ_RANK_SPECIAL;
	}
}

/* All threads of a process with a rank were noted: adds it. Frees COSTS. */
static void merge_add_rank(struct swz_merge_names *names,
			   const struct swz_binding *binding,
			   struct swz_merge_costs *costs)
{
	const struct swz_profile *profile = names->profile;
	uint32_t *functions = invert(binding);
	struct swz_merge_rank *rank = rank_at(
		names->merge, swz_profile_rank(profile), profile->header.pid,
		swz_profile_label(profile, "host"));
	size_t kept = 0, i;

	for (i = 0; i < costs->count; i++) {
		costs->items[kept] = costs->items[i];
		costs->items[kept].function = number_of(
			names, costs->items[i].function, functions);
		kept += costs->items[kept].function != NONE;
	}
	rank->processes = swz_add_count(rank->processes,
					swz_profile_ranked_processes(profile));
	add_rank_costs(rank, costs->items, kept);
	free(functions);
	*costs = (struct swz_merge_costs){0};
}

/* ---- a sum ---- */

/* Adds those of a profile that is a sum, if it has any; they are whole.
 * THREADS: this sum's, by the profile's. */
static void merge_add_ranks(struct swz_merge_names *names,
			    const uint32_t *threads)
{
	struct swz_profile *profile = names->profile;
	uint32_t j;
	size_t i;

	for (i = 0; profile->ranks && i < profile->ranks->count; i++) {
		const struct swz_summed_rank *from = &profile->ranks->items[i];
		struct swz_rank_cost *costs = swz_profile_rank_costs(profile,
								     i);
		struct swz_merge_rank *rank = rank_at(names->merge, from->rank,
						      from->pid, from->host);

		rank->processes = swz_add_count(rank->processes,
						from->processes);
		for (j = 0; costs && j < from->cost_count; j++) {
			struct swz_rank_cost *cost = &costs[j];

			cost->thread = threads[cost->thread];
			cost->function =
				cost->function >= SWZ_RANK_LEAST_SPECIAL
					? UINT32_MAX - cost->function
					: swz_merge_function(names,
							     cost->function) +
						  SWZ_RANK_SPECIAL;
		}
		if (costs)
			add_rank_costs(rank, costs, from->cost_count);
	}
}

/* --- the tree ------------------------------------------------------------ */

/* Contexts are added by their self time in ns, without the hooks' cost, as
 * tables show it: those add up exactly, where ticks of several clocks and calls
 * of several costs would not.
 *
 * Calls whose caller's context is not known (--max-memory) are added below a
 * context of that caller which stands beneath the root. */

/* A node's function is an index of swz_merge.functions, or one of these: its
 * number in a profile (SWZ_FUNCTION_KERNEL and the like). */
#define SWZ_MERGE_SPECIAL 0xfffffff0u
#define ANOTHER_CONTEXT \
	(1ull << 63) /* in the key of a node: its time is there */

struct extremes {
	int64_t min_ticks, max_ticks; /* of calls that have ended; 0: none */
	bool taken;                   /* what is shown of calls that have not */
	bool times_taken;
	/* inclusive, of all its nodes, and of those whose part is taken */
	int64_t ticks, ticks_done;
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

/* The inclusive time, and the shortest and the longest call, of each function,
 * before and after the hooks' cost is taken from them: those of its contexts
 * are in proportion. */
static void find_extremes(struct adding *adding)
{
	size_t i;

	adding->extremes = swz_allocate(adding->report->function_capacity,
					sizeof(*adding->extremes));
	for (i = 1; i < adding->tree->count; i++) {
		const struct swz_tree_node *node = &adding->tree->nodes[i];
		struct extremes *of = extremes_of(adding, node);

		if (of)
			of->ticks = swz_add(
				of->ticks,
				swz_tree_inclusive(adding->tree, node));
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

/* The node's part of its function's inclusive time, as that is shown: so that
 * the parts add up to it. */
static int64_t inclusive_part(const struct adding *adding,
			      const struct swz_tree_node *node)
{
	int64_t ticks = swz_tree_inclusive(adding->tree, node), before, after;
	struct extremes *of = extremes_of(adding, node);
	const struct swz_report_function *function;
	int64_t shown;

	if (!of)
		return ns_of(adding, ticks);
	if (!of->ticks)
		return 0;
	function = &adding->report->functions[of - adding->extremes];
	shown = swz_add(function->inclusive_ns, function->inclusive_waiting_ns);
	before = swz_scale(of->ticks_done, (uint64_t)shown,
			   (uint64_t)of->ticks);
	of->ticks_done = swz_add(of->ticks_done, ticks);
	after = swz_scale(of->ticks_done, (uint64_t)shown, (uint64_t)of->ticks);
	return after - before;
}

static void add_costs(const struct adding *adding, uint32_t index,
		      struct swz_merge_node *to)
{
	const struct swz_tree_node *node = &adding->tree->nodes[index];
	int64_t inclusive_ns = inclusive_part(adding, node);

	to->calls = swz_add_count(to->calls, node->calls);
	to->unwound = swz_add_count(to->unwound, node->unwound);
	if (node->uncounted)
		to->flags |= SWZ_NODE_RESUMED;
	if (node->context == index) {
		to->ns = swz_add(to->ns,
				 swz_add(node->self_ns, node->self_waiting_ns));
		to->waiting_ns = swz_add(to->waiting_ns, node->self_waiting_ns);
	} else if (to->context != (uint32_t)(to - adding->thread->nodes)) {
		to->ns = swz_add(to->ns, inclusive_ns);
	}
	to->outer_ns = swz_add(to->outer_ns, inclusive_ns);
	add_extremes(adding, node, to);
}

static void add_time(struct swz_merge_thread *thread, uint32_t function,
		     int64_t ns, uint64_t calls)
{
	uint32_t bucket = swz_time_bucket((uint64_t)ns);
	uint32_t *found = swz_map_at(&thread->times_index, function, bucket);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)thread->times_count;
		swz_grow(&thread->times, &thread->times_capacity,
			 thread->times_count, sizeof(*thread->times));
		thread->times[thread->times_count++] = (struct swz_merge_times){
			.function = function, .bucket = bucket};
	}
	thread->times[*found].calls = swz_add_count(thread->times[*found].calls,
						    calls);
}

/* Each function's, as they are shown. */
static void add_times(struct adding *adding)
{
	const struct swz_tree *tree = adding->tree;
	size_t i, j;

	for (i = 0; i < tree->times_count; i++) {
		uint32_t function = tree->times[i].function, shown;
		const struct swz_call_times *times;

		if (function == NONE)
			continue;
		shown = swz_binding_function(
			adding->binding, function,
			adding->names.profile->functions[function].id);
		if (shown >= adding->report->function_capacity ||
		    adding->extremes[shown].times_taken)
			continue;
		adding->extremes[shown].times_taken = true;
		times = &adding->report->functions[shown].times;
		function = swz_merge_function(&adding->names, function);
		for (j = 0; j < times->count; j++)
			add_time(adding->thread, function, times->items[j].ns,
				 times->items[j].calls);
	}
	if (adding->report->lost_times)
		add_time(adding->thread, NONE, 0, adding->report->lost_times);
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
	add_times(adding);
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
		swz_profile_ns(names->profile,
			       tree.counts
				       ? (int64_t)(thread->last_ticks -
						   thread->record.start_ticks)
				       : tree.total_ticks));
	adding.thread->processor_ns = swz_add(adding.thread->processor_ns,
					      times.processor_ns);
	adding.thread->processor_known |= times.known;
	if (costs)
		merge_costs_note(costs, place, &report);
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
	/* (for those that never ran) */
	if (merge->header.flags & SWZ_FILE_LISTED)
		for (i = 0; i < profile->function_count; i++)
			(void)swz_merge_function(&names, (uint32_t)i);
	if (has_rank)
		merge_add_rank(&names, &binding, &costs);
	merge_add_ranks(&names, places);
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
	    (swz_kind_of(&merge->header) != swz_kind_of(&profile->header) ||
	     (merge->header.sample_flags ^ profile->header.sample_flags) &
		     SWZ_SAMPLES_OF_WAITING))
		return SWZ_MERGE_KIND;
	for (i = 0; i < count; i++)
		known += *source_at(merge, &sources[i]) != SWZ_MAP_NONE;
	if (known)
		return known == count ? SWZ_MERGE_KNOWN : SWZ_MERGE_PARTLY;
	merge_description(merge, profile);
	merge->header.flags |= profile->header.flags & SWZ_FILE_COVER;
	if (!lists_functions(profile))
		merge->header.flags &= ~(uint32_t)SWZ_FILE_LISTED;
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
		free(merge->threads[i].times);
		swz_map_free(&merge->threads[i].times_index);
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
