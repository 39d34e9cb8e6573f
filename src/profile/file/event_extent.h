#ifndef SWZ_PROFILE_FILE_EVENT_EXTENT_H
#define SWZ_PROFILE_FILE_EVENT_EXTENT_H

/* From when to when the trace of a thread holds its events. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/file/reader.h"

struct swz_event_extent {
	uint64_t from; /* ticks: the thread's start; or its first event, where
			* older ones were overwritten (--ring) */
	uint64_t to;   /* the thread's last moment; or its last event, where
			* later ones had no room (--max-size) */
};

/* Where a thread has lost all its events both are its last moment. Reads the
 * thread's first event and last chunk. */
struct swz_event_extent swz_event_extent(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);

/* Whether there is any time of the thread without events. */
bool swz_event_extent_is_partial(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread);

/* Whether events from that time on had no room. */
bool swz_events_stopped(const struct swz_profile_thread *thread);

#endif
