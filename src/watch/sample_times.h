#ifndef SWZ_WATCH_SAMPLE_TIMES_H
#define SWZ_WATCH_SAMPLE_TIMES_H

/* When each sample was taken. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/image.h"

/* Keeps a sample of a node of the thread by itself. */
void swz_sample_times_add(struct swz_image *image,
			  struct swz_image_thread *thread, uint32_t node,
			  const struct swz_hit *hit);

/* Frees all that the thread has. */
void swz_sample_times_forget(struct swz_image_thread *thread);

/* Samples as a chunk SAMPLES has them. */
struct swz_sample_times {
	size_t count, bytes;
	uint64_t unit_ns, expected;
	uint8_t *stream; /* to be freed */
};

/* Packs those that were taken while the thread ran, or while it waited.
 * PERIOD_NS: between two of a running thread; 0: not known. */
void swz_sample_times_pack(struct swz_sample_times *times,
			   const struct swz_image_thread *thread, bool waiting,
			   uint64_t period_ns);

#endif
