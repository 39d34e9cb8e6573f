#ifndef SWZ_PROFILE_COSTS_GROUP_TABLE_H
#define SWZ_PROFILE_COSTS_GROUP_TABLE_H

#include "profile/file/ranks.h"
#include "profile/names/catalog.h"

/* The catalog's function of what a rank has spent (swz_profile_rank_costs()) in
 * the profile of BINDING. */
static inline uint32_t swz_rank_function(struct swz_binding *binding,
					 const struct swz_rank_cost *cost)
{
	if (cost->function == SWZ_FUNCTION_ROOT)
		return SWZ_CATALOG_OUTSIDE;
	return cost->function >= SWZ_RANK_LEAST_SPECIAL
		       ? swz_binding_function(binding, SWZ_INDEX_NONE,
					      cost->function)
		       : swz_binding_function(binding, cost->function, 0);
}

#endif
