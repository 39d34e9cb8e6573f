#ifndef SWZ_PROFILE_COSTS_VIEW_H
#define SWZ_PROFILE_COSTS_VIEW_H

/* Filters choose by names of functions what of a profile is shown. They
 * have the same meaning as those of swizzle-run, after the fact. What is left
 * out is marked hidden in the tree, so its time is its caller's. */

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"

struct swz_view {
	struct swz_patterns only;    /* these, and what they call */
	struct swz_patterns without; /* not these, nor what they call */
	struct swz_patterns hidden;  /* not these, but what they call */
	struct swz_patterns callers; /* these, and what leads to them: calls
				      * from which none of these is reached are
				      * left out, and what these call */
	struct swz_rules *rules;     /* the configuration's; or NULL */
	bool script; /* of those: only functions of scripts and code made at
		      * run time */
};

/* True if nothing is left out. */
bool swz_view_is_whole(const struct swz_view *view);

/* Lets the catalog know the functions of a thread. To be called for all threads
 * before the first is filtered: names may depend on each other. */
void swz_view_prepare(struct swz_binding *binding,
		      const struct swz_profile_thread *thread);

/* Marks what is not shown. Names are resolved for that. */
void swz_view_apply(const struct swz_view *view, struct swz_binding *binding,
		    struct swz_tree *tree);

/* The nodes of a thread that are shown, for swz_events_show_only(); all if
 * nothing is left out. To be freed. */
struct swz_unit_set swz_view_units(const struct swz_view *view,
				   struct swz_binding *binding,
				   const struct swz_profile_thread *thread);
void swz_unit_set_free(struct swz_unit_set *set);

void swz_view_free(struct swz_view *view);

/* --- what was recorded since a snapshot ----------------------------------- */

/* The part of a profile that was recorded since a snapshot of it. */

/* Changes PROFILE to what it has more than EARLIER, a snapshot of the same
 * process: calls and times since then, of threads that begin then. Nothing is
 * open any more; the shortest and the longest calls stay those of the whole.
 * SWZ_E_FORMAT, and nothing is changed: it is no such snapshot, *error says
 * why. */
enum swz_status swz_interval_take(struct swz_profile *profile,
				  const struct swz_profile *earlier,
				  struct swz_error *error) SWZ_MUST_CHECK;

#endif
