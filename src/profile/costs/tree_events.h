#ifndef SWZ_PROFILE_COSTS_TREE_EVENTS_H
#define SWZ_PROFILE_COSTS_TREE_EVENTS_H

/* The costs of a tree's nodes by the events of a range of time. */

#include "profile/costs/tree.h"
#include "profile/names/unit_index.h"

/* Replaces calls and times of all nodes: those of the file by those of the
 * events in RANGE. UNITS leads to the nodes. */
void swz_tree_take_events(struct swz_tree *tree,
			  const struct swz_unit_index *units,
			  const struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  const struct swz_range *range);

#endif
