#include "thunks/region.h"

#include <stdatomic.h>

#define MOST_REGIONS 4096u

/* `start` is set last and cleared first: who sees it sees the rest. */
static struct place {
	_Atomic(const uint8_t *) start;
	size_t bytes;
	const uint8_t *unwind_header;
	const int32_t *islands;
	uint32_t island_count;
	atomic_bool islands_hidden;
} places[MOST_REGIONS];
static _Atomic unsigned count;

bool swz_region_add(const struct swz_region *region)
{
	unsigned n = atomic_load_explicit(&count, memory_order_relaxed);
	unsigned i = 0;

	while (i < n &&
	       atomic_load_explicit(&places[i].start, memory_order_relaxed))
		i++;
	if (i == MOST_REGIONS)
		return false;
	places[i].bytes = region->bytes;
	places[i].unwind_header = region->unwind_header;
	places[i].islands = region->islands;
	places[i].island_count = region->island_count;
	atomic_store_explicit(&places[i].islands_hidden, false,
			      memory_order_relaxed);
	/* release: matches the acquire in swz_region_next */
	atomic_store_explicit(&places[i].start, region->start,
			      memory_order_release);
	if (i == n)
		atomic_store_explicit(&count, n + 1, memory_order_release);
	return true;
}

void swz_region_remove(const uint8_t *start)
{
	unsigned n = atomic_load_explicit(&count, memory_order_relaxed);

	for (unsigned i = 0; i < n; i++)
		if (atomic_load_explicit(&places[i].start,
					 memory_order_relaxed) == start)
			atomic_store_explicit(&places[i].start, NULL,
					      memory_order_release);
}

void swz_region_show_islands(const uint8_t *start, bool shown)
{
	unsigned n = atomic_load_explicit(&count, memory_order_relaxed);

	for (unsigned i = 0; i < n; i++)
		if (atomic_load_explicit(&places[i].start,
					 memory_order_relaxed) == start)
			atomic_store_explicit(&places[i].islands_hidden, !shown,
					      memory_order_relaxed);
}

bool swz_region_next(unsigned *at, struct swz_region *found)
{
	/* acquire: matches the releases above */
	unsigned n = atomic_load_explicit(&count, memory_order_acquire);

	while (*at < n) {
		const struct place *p = &places[(*at)++];

		found->start = atomic_load_explicit(&p->start,
						    memory_order_acquire);
		if (!found->start)
			continue;
		found->bytes = p->bytes;
		found->unwind_header = p->unwind_header;
		found->islands = p->islands;
		found->island_count = p->island_count;
		if (atomic_load_explicit(&p->islands_hidden,
					 memory_order_relaxed))
			found->island_count = 0;
		return true;
	}
	return false;
}

static bool is_on_island(uint64_t address, struct swz_region *region)
{
	int64_t distance = (int64_t)(address - (uintptr_t)region->start);
	uint32_t low = 0, high = region->island_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (region->islands[middle] <= distance)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || distance - region->islands[low - 1] >= SWZ_ISLAND_BYTES)
		return false;
	region->start += region->islands[low - 1];
	region->bytes = SWZ_ISLAND_BYTES;
	return true;
}

bool swz_region_at(uint64_t address, struct swz_region *found)
{
	unsigned at = 0;

	while (swz_region_next(&at, found))
		if (address - (uintptr_t)found->start < found->bytes ||
		    is_on_island(address, found))
			return true;
	return false;
}
