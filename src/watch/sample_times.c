/* Each sample is 16 bytes until the file is written, and one or two there. A
 * run of many hours has more than anybody looks at: of all processes together
 * so many are kept, and what comes later has its place in the tree alone. The
 * file says how many those are. */

#include "watch/sample_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "util/memory.h"

#define MOST_MOMENTS (UINT64_C(8) << 20) /* 128 MB */

/* Where nothing is known: between two looks at threads that wait. */
#define USUAL_NS UINT64_C(10000000)

/* A period has at least so many units, and less than twice as many. */
#define LEAST_UNITS UINT64_C(32)

static uint64_t kept;

void swz_sample_times_add(struct swz_image *image,
			  struct swz_image_thread *thread, uint32_t node,
			  const struct swz_hit *hit)
{
	if (kept == MOST_MOMENTS) {
		image->untimed++;
		return;
	}
	kept++;
	swz_grow(&thread->moments, &thread->moment_capacity,
		 thread->moment_count, sizeof(*thread->moments));
	thread->moments[thread->moment_count++] = (struct swz_sample_moment){
		.time_ns = hit->time_ns,
		.node = node,
		.processor = hit->processor & 0x7fffffffu,
		.waiting = hit->waiting,
	};
}

void swz_sample_times_forget(struct swz_image_thread *thread)
{
	kept -= thread->moment_count;
	free(thread->moments);
	thread->moments = NULL;
	thread->moment_count = thread->moment_capacity = 0;
}

void swz_sample_times_pack(struct swz_sample_times *times,
			   const struct swz_image_thread *thread, bool waiting,
			   uint64_t period_ns)
{
	struct swz_sample_packing *before = swz_allocate(1, sizeof(*before));
	uint64_t usual_ns = waiting || !period_ns ? USUAL_NS : period_ns;
	size_t capacity = 0;

	*times = (struct swz_sample_times){.unit_ns = 1};
	while (usual_ns / times->unit_ns >= 2 * LEAST_UNITS)
		times->unit_ns *= 2;
	times->expected = before->expected = usual_ns / times->unit_ns;
	for (size_t i = 0; i < thread->moment_count; i++) {
		const struct swz_sample_moment *m = &thread->moments[i];
		int64_t since = (int64_t)(m->time_ns - thread->start_ns);

		if (m->waiting != waiting)
			continue;
		swz_grow(&times->stream, &capacity,
			 times->bytes + SWZ_PACKED_SAMPLE_BYTES, 1);
		/* (one may come before the thread was told of) */
		times->bytes += swz_sample_pack(
			times->stream + times->bytes, before,
			&(struct swz_packed_sample){
				.time = (uint64_t)(since /
						   (int64_t)times->unit_ns),
				.node = m->node,
				.processor = m->processor,
			});
		times->count++;
	}
	free(before);
}
