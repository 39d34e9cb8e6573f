#ifndef SWZ_TOP_NEIGHBOURS_H
#define SWZ_TOP_NEIGHBOURS_H

/* Who calls a function, and what it calls: two trees of contexts. The root of
 * each is the function. In that of the callers a child calls its parent; in
 * that of the callees it is called by it. A context's inclusive_ns is the part
 * of the function's time that was spent on this path, and `calls` are the
 * calls (of callers: of the function; samples: hits). */

#include "profile/costs/contexts.h"

struct swz_neighbours {
	struct swz_contexts callers, callees;
};

/* From contexts that were summed up. To be freed. */
void swz_neighbours_find(struct swz_neighbours *neighbours,
			 const struct swz_contexts *contexts,
			 uint32_t function);
void swz_neighbours_free(struct swz_neighbours *neighbours);

#endif
