#ifndef SWZ_WATCH_PROFILE_FILE_H
#define SWZ_WATCH_PROFILE_FILE_H

/* The profile of an image: made, empty and locked, when the image begins, so
 * that readers know that somebody is going to fill it; written at the end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/image.h"

/* The facts that all files of a run share. */
struct swz_sample_run {
	const char *output; /* the files' names: absolute, may hold %p */
	int32_t root_pid;
	uint64_t root_start;
	const char *counts_output; /* -m both: the same of the profiles with
				    * the counts; NULL: there are none */
	int32_t counts_pid;        /* as in the header */
	uint64_t counts_start;
	uint32_t plain_call, counted_call;
	uint64_t period_ns; /* 0: not by time */
	enum swz_sample_engine engine;
	uint32_t flags; /* enum swz_sample_flags */
	uint64_t stack_bytes;
	bool keeps_moments; /* each sample is in the file by itself, too */
	bool first_made; /* a file of the name that the user gave; set here */
	const char *problem; /* why a file could not be made or written: the
			      * first, NULL: none. Set here */
};

/* The run as it is for an image, which may be sampled in another way than
 * others. */
struct swz_sample_run swz_run_of_image(const struct swz_sample_run *run,
				       const struct swz_image *image);

/* Makes the file of an image that has none. Without success the image stays
 * without one and run->problem says why. */
void swz_profile_file_make(struct swz_sample_run *run, struct swz_image *image);

/* Writes all that is known; again, if it was written before. An image that has
 * ended gives its lock up. False: it could not be written. */
bool swz_profile_file_write(struct swz_sample_run *run,
			    struct swz_image *image);

/* Removes an image's file: there is nothing to be written. */
void swz_profile_file_drop(struct swz_image *image);

/* From a thread's samples to times: what each sample stands for, so that all
 * together are the thread's processor time. */

struct swz_thread_time {
	struct swz_stack_node *nodes; /* the thread's, perhaps two more */
	size_t count;
	uint64_t *total_ns;    /* by node: of it and those below */
	uint64_t *waiting_ns;  /* the part that it waited */
	uint64_t processor_ns; /* the program's */
	uint64_t own_ns;       /* the profiler's, in this thread */
};

/* END_NS: the thread's last moment. */
void swz_thread_time(struct swz_thread_time *time,
		     const struct swz_sample_run *run,
		     const struct swz_image_thread *thread, uint64_t end_ns);
void swz_thread_time_free(struct swz_thread_time *time);

#endif
