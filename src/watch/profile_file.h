#ifndef SWZ_WATCH_PROFILE_FILE_H
#define SWZ_WATCH_PROFILE_FILE_H

/* The profile of an image: made, empty and locked, when the image begins, so
 * that readers know that somebody is going to fill it; written at the end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "watch/image.h"

/* What all files of a run have in common. */
struct swz_sample_run {
	const char *output; /* the files' names: absolute, may hold %p */
	int32_t root_pid;
	uint64_t root_start;
	int32_t counts_pid; /* as in the header */
	uint64_t counts_start;
	uint64_t period_ns; /* 0: not by time */
	enum swz_sample_engine engine;
	uint32_t flags; /* enum swz_sample_flags */
	uint64_t stack_bytes;
	bool first_made; /* a file of the name that the user gave; set here */
	const char *problem; /* why a file could not be made or written: the
			      * first, NULL: none. Set here */
};

/* Makes the file of an image that has none. Without success the image stays
 * without one and run->problem says why. */
void swz_profile_file_make(struct swz_sample_run *run, struct swz_image *image);

/* Writes all that is known; again, if it was written before. An image that has
 * ended gives its lock up. False: it could not be written. */
bool swz_profile_file_write(struct swz_sample_run *run,
			    struct swz_image *image);

/* Removes an image's file: there is nothing to be written. */
void swz_profile_file_drop(struct swz_image *image);

#endif
