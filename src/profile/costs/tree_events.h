#ifndef SWZ_PROFILE_COSTS_TREE_EVENTS_H
#define SWZ_PROFILE_COSTS_TREE_EVENTS_H

/* The costs of a tree's nodes by the events of a range of time. */

#include <stdint.h>

#include "profile/costs/call_tree.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"

/* Replaces calls and times of all nodes: those of the file by those of the
 * events in RANGE. UNITS leads to the nodes. */
void swz_tree_take_events(struct swz_tree *tree,
			  const struct swz_unit_index *units,
			  const struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  const struct swz_range *range);

/* --- waiting by context switches ----------------------------------------- */

/* In which contexts a thread did not run, by the context switches of a trace.
 */

/* Sets waiting of the contexts, if switches of the thread are known: of the
 * part of time that RANGE says, or of all (NULL). */
void swz_tree_take_switches(struct swz_tree *tree,
			    const struct swz_unit_index *units,
			    const struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    const struct swz_range *range);

/* Looks at the thread from outside: nodes get `waiting` in any unit, until
 * swz_tree_place_waiting(). */
void swz_tree_take_looks(struct swz_tree *tree,
			 const struct swz_unit_index *units,
			 const struct swz_profile *profile,
			 const struct swz_profile_thread *thread);

/* When self times are there: divides tree->waiting_ticks among the contexts.
 * It belongs to those that the thread was seen to wait in, as far as they have
 * time for it, and what is left to all. */
void swz_tree_place_waiting(struct swz_tree *tree);

/* --- what a trace does not hold ------------------------------------------ */

/* The time of which a trace holds no events: all that the nodes have, less what
 * the events say. */

struct swz_untraced {
	int64_t ticks;     /* how long it is */
	uint64_t calls;    /* that were made then */
	int64_t own_ticks; /* work of ours (SWZ_FUNCTION_OURSELVES) */
};

/* Reads all events of the thread where there is such a time. */
struct swz_untraced swz_untraced(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread);

#endif
