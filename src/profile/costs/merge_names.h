#ifndef SWZ_PROFILE_COSTS_MERGE_NAMES_H
#define SWZ_PROFILE_COSTS_MERGE_NAMES_H

/* Modules, functions and call sites of a profile, in a sum of profiles. */

#include "profile/costs/merge.h"

struct swz_merge_names {
	struct swz_merge *merge;
	struct swz_profile *profile;
	uint32_t *modules;    /* the profile's index to the sum's */
	uint32_t *functions;  /* the same; SWZ_INDEX_NONE: not asked for yet */
	uint32_t last;        /* function that was found */
	struct swz_map named; /* (module of the profile, address): symbol */
	struct swz_map sites; /* call sites by page: module of the profile */
};

void swz_merge_names_begin(struct swz_merge_names *names,
			   struct swz_merge *merge,
			   struct swz_profile *profile);
/* Takes over the names that the profile holds, of functions that were asked
 * for, and of calls. */
void swz_merge_names_end(struct swz_merge_names *names);

/* INDEX is into the profile's functions. */
uint32_t swz_merge_function(struct swz_merge_names *names, uint32_t index);

/* Where a call returns to: sets the node's site_module and site. */
void swz_merge_site(struct swz_merge_names *names, uint64_t call_site,
		    struct swz_merge_node *node);

#endif
