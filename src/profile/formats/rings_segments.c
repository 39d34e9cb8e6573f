/* The segments of rings. Calls that begin on the same pixel, end on the same
 * pixel and are equally thick are one segment, which has the colour of the
 * longest. */

#include "profile/formats/rings_calls.h"

#include <stdlib.h>

#include "profile/support/memory.h"

#define MOST_PATHS 255u

uint32_t swz_rings_path(struct swz_rings *rings, uint32_t ring, uint64_t key)
{
	struct swz_rings_ring *to = &rings->rings[ring];
	uint32_t found = swz_map_get(&rings->path_map, key, ring);

	if (found != SWZ_MAP_NONE)
		return found;
	/* the last one is of all others, and forgets their keys */
	if (to->path_count > MOST_PATHS)
		return MOST_PATHS;
	swz_grow(&to->paths, &to->path_capacity, to->path_count,
		 sizeof(*to->paths));
	to->paths[to->path_count] = (struct swz_rings_path){0};
	if (to->path_count < MOST_PATHS)
		*swz_map_at(&rings->path_map, key,
			    ring) = (uint32_t)to->path_count;
	else
		to->paths[to->path_count].text = swz_duplicate("other paths");
	return (uint32_t)to->path_count++;
}

static uint64_t step_of(const struct swz_rings *rings, int64_t at)
{
	double part = (double)(at - rings->begin) /
		      (double)(rings->end - rings->begin);

	return part <= 0   ? 0
	       : part >= 1 ? SWZ_RINGS_STEPS - 1
			   : (uint64_t)(part * SWZ_RINGS_STEPS);
}

void swz_rings_add(struct swz_rings *rings, uint32_t ring,
		   const struct swz_rings_segment *call)
{
	struct swz_rings_ring *to = &rings->rings[ring];
	uint64_t place = step_of(rings, call->from) << 32 |
			 step_of(rings, call->to);
	uint64_t kind = (uint64_t)ring << 8 | call->level;
	uint32_t found = swz_map_get(&rings->segment_map, place, kind);
	struct swz_rings_segment *segment;

	to->paths[call->path].calls++;
	if (found == SWZ_MAP_NONE) {
		if (to->segment_count == SWZ_RINGS_MOST_SEGMENTS) {
			to->left_out++;
			return;
		}
		swz_grow(&to->segments, &to->segment_capacity,
			 to->segment_count, sizeof(*to->segments));
		*swz_map_at(&rings->segment_map, place,
			    kind) = (uint32_t)to->segment_count;
		to->segments[to->segment_count++] = *call;
		return;
	}
	segment = &to->segments[found];
	segment->calls++;
	if (call->from < segment->from)
		segment->from = call->from;
	if (call->to > segment->to)
		segment->to = call->to;
	if (call->longest > segment->longest) {
		segment->longest = call->longest;
		segment->path = call->path;
		segment->depth = call->depth;
	}
}

/* Thin ones are drawn last, over the calls around them. */
static int compare_segments(const void *left, const void *right)
{
	const struct swz_rings_segment *a = left, *b = right;

	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

static void number_colours(struct swz_rings_ring *ring)
{
	size_t i, j;

	for (i = 0; i < ring->path_count; i++)
		for (j = 0; j < ring->path_count; j++)
			ring->paths[i].colour +=
				ring->paths[j].calls > ring->paths[i].calls ||
				(j < i &&
				 ring->paths[j].calls == ring->paths[i].calls);
}

void swz_rings_sort(struct swz_rings *rings)
{
	size_t i;

	for (i = 0; i < rings->count; i++) {
		struct swz_rings_ring *ring = &rings->rings[i];

		if (ring->segment_count > 1)
			qsort(ring->segments, ring->segment_count,
			      sizeof(*ring->segments), compare_segments);
		number_colours(ring);
	}
}
