#ifndef SWZ_PROFILE_COSTS_MERGE_RANKS_H
#define SWZ_PROFILE_COSTS_MERGE_RANKS_H

/* What ranks of a parallel program have spent in each function, in a sum of
 * profiles. The trees of a sum do not tell ranks apart. */

#include "profile/costs/aggregate.h"
#include "profile/costs/merge_names.h"
#include "profile/file/rank_costs.h"

/* Of one profile; zero-initialise it. */
struct swz_merge_costs {
	struct swz_rank_cost *items; /* `thread` is the sum's, `function` the
				      * catalog's */
	size_t count, capacity;
};

/* Notes what REPORT, which is of one thread, has. */
void swz_merge_costs_note(struct swz_merge_costs *costs, uint32_t thread,
			  const struct swz_report *report);

/* All threads of a process with a rank were noted: adds it. Frees COSTS. */
void swz_merge_add_rank(struct swz_merge_names *names,
			const struct swz_binding *binding,
			struct swz_merge_costs *costs);

/* Adds those of a profile that is a sum, if it has any; they are whole.
 * THREADS: this sum's, by the profile's. */
void swz_merge_add_ranks(struct swz_merge_names *names,
			 const uint32_t *threads);

#endif
