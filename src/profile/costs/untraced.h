#ifndef SWZ_PROFILE_COSTS_UNTRACED_H
#define SWZ_PROFILE_COSTS_UNTRACED_H

/* What is known of the time of which a trace holds no events: what the nodes
 * have, which know all, less what the events say. */

#include <stdint.h>

#include "profile/file/reader.h"

struct swz_untraced {
	int64_t ticks;     /* how long it is */
	uint64_t calls;    /* that were made then */
	int64_t own_ticks; /* work of ours (SWZ_FUNCTION_OURSELVES) */
};

/* Reads all events of the thread where there is such a time. */
struct swz_untraced swz_untraced(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread);

#endif
