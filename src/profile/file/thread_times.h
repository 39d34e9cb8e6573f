#ifndef SWZ_PROFILE_FILE_THREAD_TIMES_H
#define SWZ_PROFILE_FILE_THREAD_TIMES_H

/* How long a thread was there, and what of that it ran or waited. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/file/reader.h"

/* All in ns, with the cost of the hooks. */
struct swz_thread_times {
	int64_t wall_ns;      /* from its start to its last moment */
	bool known;           /* the processor time; otherwise all below is 0 */
	int64_t processor_ns; /* that it ran, as far as that is known */
	int64_t waiting_ns;   /* that it did not run, as far as known */
	int64_t unknown_ns;   /* the rest, after the processor time was read for
			       * the last time; 0: so short that it was left
			       * out, as waiting */
};

struct swz_thread_times swz_thread_times(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);

/* Adds those of another thread: what is not known of one of them is unknown. */
void swz_thread_times_add(struct swz_thread_times *sum,
			  const struct swz_thread_times *other);

/* From the start of the process's first thread to the last moment of any. */
int64_t swz_profile_wall_ns(const struct swz_profile *profile);

#endif
