#ifndef SWZ_WATCH_THREAD_TIME_H
#define SWZ_WATCH_THREAD_TIME_H

/* From a thread's samples to times: what each sample stands for, so that all
 * together are the thread's processor time. */

#include <stdint.h>

#include "watch/image.h"
#include "watch/profile_file.h"

struct swz_thread_time {
	struct swz_stack_node *nodes; /* the thread's, perhaps two more */
	size_t count;
	uint64_t *total_ns;   /* by node: of it and those below */
	uint64_t *waiting_ns; /* the part that it waited */
	uint64_t processor_ns;
};

/* END_NS: the thread's last moment. */
void swz_thread_time(struct swz_thread_time *time,
		     const struct swz_sample_run *run,
		     const struct swz_image_thread *thread, uint64_t end_ns);
void swz_thread_time_free(struct swz_thread_time *time);

#endif
