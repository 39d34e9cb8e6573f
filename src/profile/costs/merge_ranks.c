/* Each rank's costs are packed at any time but when something is added to them:
 * there may be thousands, and most of them are of one profile. */

#include "profile/costs/merge_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/ranks.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE

/* ---- of one rank ---- */

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
static void add_costs(struct swz_merge_rank *to, struct swz_rank_cost *costs,
		      size_t count)
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

void swz_merge_costs_note(struct swz_merge_costs *costs, uint32_t thread,
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
	default:
		if (functions[function] == NONE)
			return NONE;
		return swz_merge_function(names, functions[function]) +
		       SWZ_RANK_SPECIAL;
	}
}

void swz_merge_add_rank(struct swz_merge_names *names,
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
	add_costs(rank, costs->items, kept);
	free(functions);
	*costs = (struct swz_merge_costs){0};
}

/* ---- a sum ---- */

void swz_merge_add_ranks(struct swz_merge_names *names, const uint32_t *threads)
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
			add_costs(rank, costs, from->cost_count);
	}
}
