#ifndef SWZ_PROFILE_COSTS_MERGE_DESCRIPTION_H
#define SWZ_PROFILE_COSTS_MERGE_DESCRIPTION_H

/* What a sum says of its profiles besides their costs: the command of the
 * first, the labels that all have, and sums of what their headers count. */

#include "profile/costs/merge.h"

void swz_merge_description(struct swz_merge *merge,
			   const struct swz_profile *profile);

#endif
