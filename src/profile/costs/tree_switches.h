#ifndef SWZ_PROFILE_COSTS_TREE_SWITCHES_H
#define SWZ_PROFILE_COSTS_TREE_SWITCHES_H

/* In which contexts a thread did not run, by the context switches of a trace.
 */

#include "profile/costs/tree.h"
#include "profile/names/unit_index.h"

/* Sets waiting of the contexts, if switches of the thread are known: of the
 * part of time that RANGE says, or of all (NULL). */
void swz_tree_take_switches(struct swz_tree *tree,
			    const struct swz_unit_index *units,
			    const struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    const struct swz_range *range);

#endif
