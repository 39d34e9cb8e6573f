/* Each thread's costs of each function are kept as threads come; group_table.c
 * makes rows of them. Of ranks only a mean, the least and the most are kept.
 */

#include "profile/costs/groups.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/costs/contexts.h"
#include "profile/file/ranks.h"
#include "profile/file/records.h"
#include "profile/names/function_rules.h"

/* --- threads, processes, ranks ------------------------------------------- */

/* Threads and processes as they come, then in their order; ranks. */

#define NONE SWZ_INDEX_NONE

static uint32_t process_of(struct swz_groups *groups,
			   const struct swz_profile *profile)
{
	size_t count = groups->process_count;

	/* the threads of a process come one after the other */
	if (count && groups->processes[count - 1].profile == profile)
		return (uint32_t)count - 1;
	swz_grow(&groups->processes, &groups->process_capacity, count,
		 sizeof(*groups->processes));
	groups->processes[count] = (struct swz_group_process){
		.profile = profile, .parent = NONE};
	groups->process_count++;
	return (uint32_t)count;
}

void swz_groups_add_process(struct swz_groups *groups,
			    const struct swz_profile *profile)
{
	(void)process_of(groups, profile);
}

static struct swz_group_part *add_part(struct swz_groups *groups)
{
	swz_grow(&groups->parts, &groups->part_capacity, groups->part_count,
		 sizeof(*groups->parts));
	return &groups->parts[groups->part_count++];
}

/* Samples that hit a known place are a part of their own. */
static void add_hits(struct swz_groups *groups, uint32_t thread,
		     const struct swz_hits *hits, const size_t *part_of)
{
	size_t i;

	for (i = 0; i < hits->count; i++) {
		const struct swz_hit *hit = &hits->items[i];
		struct swz_group_part *rest;

		*add_part(groups) = (struct swz_group_part){
			.thread = thread,
			.function = hit->function,
			.place = hit->place,
			.calls = hit->samples,
			.self_ns = hit->self_ns,
			.self_waiting_ns = hit->self_waiting_ns};
		rest = &groups->parts[part_of[hit->function]];
		rest->calls -= hit->samples < rest->calls ? hit->samples
							  : rest->calls;
		rest->self_ns -= hit->self_ns;
		rest->self_waiting_ns -= hit->self_waiting_ns;
	}
}

void swz_group_calls_add(struct swz_group_calls *to,
			 const struct swz_call_times *times, int64_t min_ns,
			 int64_t max_ns)
{
	swz_call_times_merge(&to->times, times);
	if (min_ns && (!to->min_ns || min_ns < to->min_ns))
		to->min_ns = min_ns;
	if (max_ns > to->max_ns)
		to->max_ns = max_ns;
}

static void note_times(struct swz_groups *groups, uint32_t thread,
		       uint32_t function,
		       const struct swz_report_function *costs)
{
	if (!costs->times.count)
		return;
	if (!groups->timed_count || groups->timed != function)
		groups->timed_count++;
	groups->timed = function;
	if (groups->timed_count == 1)
		swz_group_calls_add(&groups->threads[thread].calls,
				    &costs->times, costs->min_ns,
				    costs->max_ns);
}

/* Call times of one function in one thread; NULL: nobody asks, or there are
 * none. */
static struct swz_group_calls *timed_of(const struct swz_groups *groups,
					const struct swz_report_function *costs)
{
	struct swz_group_calls *timed;

	if (!groups->imbalance || !costs->times.count)
		return NULL;
	timed = swz_allocate(1, sizeof(*timed));
	swz_group_calls_add(timed, &costs->times, costs->min_ns, costs->max_ns);
	return timed;
}

void swz_groups_add(struct swz_groups *groups,
		    const struct swz_profile *process,
		    const struct swz_profile *profile,
		    const struct swz_profile_thread *thread,
		    const struct swz_report *report)
{
	uint32_t index = (uint32_t)groups->thread_count, i;
	size_t *part_of = swz_allocate(report->function_capacity,
				       sizeof(*part_of));

	swz_grow(&groups->threads, &groups->thread_capacity, index,
		 sizeof(*groups->threads));
	groups->threads[groups->thread_count++] = (struct swz_group_thread){
		.profile = profile,
		.thread = thread,
		.process = process_of(groups, process),
		.times = swz_thread_times(profile, thread)};
	swz_thread_times_see(&groups->threads[index].times,
			     report->late_waiting_ns);
	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *costs = &report->functions[i];

		if (!costs->present)
			continue;
		note_times(groups, index, i, costs);
		part_of[i] = groups->part_count;
		*add_part(groups) = (struct swz_group_part){
			.thread = index,
			.function = i,
			.calls = costs->calls,
			.self_ns = costs->self_ns,
			.inclusive_ns = costs->inclusive_ns,
			.self_waiting_ns = costs->self_waiting_ns,
			.timed = timed_of(groups, costs)};
	}
	add_hits(groups, index, &report->hits, part_of);
	free(part_of);
}

/* By when they began, so parents come first. */
static int compare_starts(const void *left, const void *right, void *context)
{
	const struct swz_group_process *processes = context;
	const struct swz_profile *a =
		processes[*(const uint32_t *)left].profile;
	const struct swz_profile *b =
		processes[*(const uint32_t *)right].profile;
	uint64_t x = a->header.start_realtime_ns;
	uint64_t y = b->header.start_realtime_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return a->header.pid < b->header.pid ? -1
					     : a->header.pid > b->header.pid;
}

/* The parent is the latest process, of those that began before, that had its
 * own pid and has become another program, or its parent's. */
static void find_parents(struct swz_groups *groups, const uint32_t *order)
{
	struct swz_map latest = {0}; /* by pid */
	size_t i;

	for (i = 0; i < groups->process_count; i++) {
		struct swz_group_process *process =
			&groups->processes[order[i]];
		const struct swz_file_header *own = &process->profile->header;
		uint32_t *before = swz_map_at(&latest, (uint32_t)own->pid, 0);

		process->parent = *before;
		*before = order[i];
		if (process->parent == SWZ_MAP_NONE)
			process->parent = swz_map_get(
				&latest, (uint32_t)own->parent_pid, 0);
		if (process->parent == order[i])
			process->parent = NONE;
	}
	swz_map_free(&latest);
}

static void sum_times(struct swz_groups *groups)
{
	size_t i;

	for (i = 0; i < groups->thread_count; i++) {
		const struct swz_group_thread *thread = &groups->threads[i];

		swz_thread_times_add(&groups->processes[thread->process].times,
				     &thread->times);
		swz_group_calls_add(&groups->processes[thread->process].calls,
				    &thread->calls.times, thread->calls.min_ns,
				    thread->calls.max_ns);
	}
	for (i = 0; i < groups->process_count; i++) {
		struct swz_group_process *process = &groups->processes[i];

		process->times.wall_ns = swz_profile_wall_ns(process->profile);
		process->times.wall_is_bound = !swz_profile_end_known(
			process->profile);
	}
}

/* Each process behind its parent, and behind its elder brothers with all that
 * came from them. */
static void order_processes(struct swz_groups *groups, const uint32_t *order)
{
	struct swz_group_process *all = groups->processes;
	size_t count = groups->process_count, done = 0, i;
	struct swz_group_process *sorted = swz_allocate(count, sizeof(*sorted));
	uint32_t *place = swz_allocate(count, sizeof(*place));
	uint32_t *first = swz_allocate(count + 1, sizeof(*first));
	uint32_t *next = swz_allocate(count, sizeof(*next));
	uint32_t at;

	for (i = 0; i <= count; i++)
		first[i] = NONE;
	for (i = count; i-- > 0;) {
		uint32_t parent = all[order[i]].parent;
		uint32_t *list = &first[parent == NONE ? count : parent];

		next[order[i]] = *list;
		*list = order[i];
	}
	for (at = first[count]; at != NONE;) {
		place[at] = (uint32_t)done;
		sorted[done++] = all[at];
		if (first[at] != NONE) {
			at = first[at];
			continue;
		}
		while (next[at] == NONE && all[at].parent != NONE)
			at = all[at].parent;
		at = next[at];
	}
	for (i = 0; i < count; i++)
		if (sorted[i].parent != NONE) {
			sorted[i].parent = place[sorted[i].parent];
			sorted[i].depth = sorted[sorted[i].parent].depth + 1;
			sorted[sorted[i].parent].children++;
		}
	for (i = 0; i < groups->thread_count; i++)
		groups->threads[i].process = place[groups->threads[i].process];
	memcpy(all, sorted, count * sizeof(*sorted));
	free(sorted);
	free(place);
	free(first);
	free(next);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct swz_group_rank *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The group's rank of that number; SWZ_INDEX_NONE: none. */
static uint32_t groups_rank(const struct swz_groups *groups, uint32_t rank)
{
	return SWZ_SEARCH(groups->ranks, groups->rank_count, rank, rank);
}

static void add_rank(struct swz_groups *groups, uint32_t rank, int32_t pid,
		     const char *host)
{
	swz_grow(&groups->ranks, &groups->rank_capacity, groups->rank_count,
		 sizeof(*groups->ranks));
	groups->ranks[groups->rank_count++] = (struct swz_group_rank){rank, pid,
								      host};
}

/* True if something was recorded of a thread that is wanted. */
static bool is_in(const struct swz_group_sum *sum, size_t index)
{
	struct swz_profile *profile = sum->binding->profile;
	const struct swz_summed_rank *rank = &profile->ranks->items[index];
	struct swz_rank_cost *costs;
	bool found = false;
	uint32_t i;

	if (sum->all)
		return true;
	costs = swz_profile_rank_costs(profile, index);
	for (i = 0; costs && i < rank->cost_count && !found; i++)
		found = sum->threads[costs[i].thread];
	free(costs);
	return found;
}

static void add_ranks_of(struct swz_groups *groups,
			 const struct swz_group_sum *sum)
{
	const struct swz_summed_ranks *ranks = sum->binding->profile->ranks;
	size_t i;

	for (i = 0; i < ranks->count; i++)
		if (is_in(sum, i))
			add_rank(groups, ranks->items[i].rank,
				 ranks->items[i].pid, ranks->items[i].host);
}

static void find_ranks(struct swz_groups *groups)
{
	size_t kept = 0, i;

	for (i = 0; i < groups->process_count; i++) {
		const struct swz_profile *profile =
			groups->processes[i].profile;

		if (swz_profile_rank(profile) != NONE)
			add_rank(groups, swz_profile_rank(profile),
				 profile->header.pid,
				 swz_profile_label(profile, "host"));
	}
	for (i = 0; i < groups->sum_count; i++)
		add_ranks_of(groups, &groups->sums[i]);
	if (groups->rank_count > 1)
		qsort(groups->ranks, groups->rank_count, sizeof(*groups->ranks),
		      compare_ranks);
	for (i = 0; i < groups->rank_count; i++)
		if (!kept ||
		    groups->ranks[kept - 1].rank != groups->ranks[i].rank)
			groups->ranks[kept++] = groups->ranks[i];
	groups->rank_count = kept;
	for (i = 0; i < groups->thread_count; i++)
		groups->threads[i].rank = groups_rank(
			groups, swz_profile_rank(groups->threads[i].profile));
}

void swz_groups_add_sum(struct swz_groups *groups, struct swz_binding *binding,
			bool *threads, bool all)
{
	swz_grow(&groups->sums, &groups->sum_capacity, groups->sum_count,
		 sizeof(*groups->sums));
	groups->sums[groups->sum_count++] = (struct swz_group_sum){
		binding, threads, all};
}

void swz_groups_end(struct swz_groups *groups)
{
	size_t count = groups->process_count, i;
	uint32_t *order;

	find_ranks(groups);
	if (groups->timed_count != 1)
		groups->timed = NONE;
	if (!count)
		return;
	sum_times(groups);
	order = swz_allocate(count, sizeof(*order));
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_starts,
		groups->processes);
	find_parents(groups, order);
	order_processes(groups, order);
	free(order);
}

void swz_groups_free(struct swz_groups *groups)
{
	size_t i;

	for (i = 0; i < groups->sum_count; i++)
		free(groups->sums[i].threads);
	for (i = 0; i < groups->part_count; i++) {
		if (groups->parts[i].timed)
			swz_call_times_free(&groups->parts[i].timed->times);
		free(groups->parts[i].timed);
	}
	for (i = 0; i < groups->thread_count; i++)
		swz_call_times_free(&groups->threads[i].calls.times);
	for (i = 0; i < groups->process_count; i++)
		swz_call_times_free(&groups->processes[i].calls.times);
	free(groups->sums);
	free(groups->threads);
	free(groups->processes);
	free(groups->parts);
	free(groups->ranks);
	*groups = (struct swz_groups){0};
}

/* --- how even ranks are -------------------------------------------------- */

static void see(struct swz_imbalance *imbalance, size_t at, int64_t ns)
{
	if (!imbalance->count || ns < imbalance->least_ns)
		imbalance->least_ns = ns;
	if (!imbalance->count || ns > imbalance->most_ns) {
		imbalance->most_ns = ns;
		imbalance->most_at = at;
	}
	imbalance->count = at + 1;
}

void swz_imbalance_add(struct swz_imbalance *imbalance, size_t at, int64_t ns)
{
	if (at > imbalance->count)
		see(imbalance, imbalance->count, 0);
	see(imbalance, at, ns);
	imbalance->sum_ns = swz_add(imbalance->sum_ns, ns);
}

void swz_imbalance_end(struct swz_imbalance *imbalance, size_t count)
{
	double mean;

	if (imbalance->count < count)
		see(imbalance, imbalance->count, 0);
	imbalance->mean_ns = imbalance->sum_ns / (int64_t)count;
	mean = (double)imbalance->sum_ns / (double)count;
	if (mean > 0)
		imbalance->tenths = llround(
			((double)imbalance->most_ns / mean - 1.0) * 1000.0);
}
