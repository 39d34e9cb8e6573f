#include "thunks/region.h"

#include <stdatomic.h>

#define MOST_REGIONS 4096u

/* What is in a place is valid if its version is even, and was the same before
 * and after it was read: places are used again, and half of one region with
 * half of another would hold addresses that neither has. `start` is NULL where
 * there is none. */
static struct place {
	_Atomic(const uint8_t *) start;
	_Atomic size_t bytes;
	_Atomic(const uint8_t *) unwind_header;
	_Atomic(const int32_t *) islands;
	_Atomic uint32_t island_count;
	_Atomic unsigned version;
} places[MOST_REGIONS] __attribute__((section(".bss.large")));
static _Atomic unsigned count; /* all behind are free */

#define SET(what, value) \
	atomic_store_explicit(&(what), (value), memory_order_relaxed)
#define GET(what) atomic_load_explicit(&(what), memory_order_relaxed)

static void put(struct place *p, const struct swz_region *region)
{
	unsigned version = GET(p->version);

	SET(p->version, version + 1);
	/* not before that; matches the fence in get */
	atomic_thread_fence(memory_order_release);
	SET(p->start, region->start);
	SET(p->bytes, region->bytes);
	SET(p->unwind_header, region->unwind_header);
	SET(p->islands, region->islands);
	SET(p->island_count, region->island_count);
	/* release: matches the acquire in get */
	atomic_store_explicit(&p->version, version + 2, memory_order_release);
}

/* One that is being changed is nobody's: its module has not come, or is gone.
 * (A fork may leave it so.) */
static bool get(const struct place *p, struct swz_region *found)
{
	for (;;) {
		unsigned version = atomic_load_explicit(&p->version,
							memory_order_acquire);

		found->start = GET(p->start);
		if (version & 1 || !found->start)
			return false;
		found->bytes = GET(p->bytes);
		found->unwind_header = GET(p->unwind_header);
		found->islands = GET(p->islands);
		found->island_count = GET(p->island_count);
		/* matches the fence in put */
		atomic_thread_fence(memory_order_acquire);
		if (GET(p->version) == version)
			return true;
	}
}

bool swz_region_add(const struct swz_region *region)
{
	unsigned n = GET(count), i = 0;

	while (i < n && GET(places[i].start))
		i++;
	if (i == MOST_REGIONS)
		return false;
	put(&places[i], region);
	if (i == n)
		SET(count, n + 1);
	return true;
}

void swz_region_remove(const uint8_t *start)
{
	static const struct swz_region none;
	unsigned n = GET(count);

	for (unsigned i = 0; i < n; i++)
		if (GET(places[i].start) == start)
			put(&places[i], &none);
	while (n && !GET(places[n - 1].start))
		n--;
	SET(count, n);
}

bool swz_region_next(unsigned *at, struct swz_region *found)
{
	unsigned n = GET(count);

	while (*at < n)
		if (get(&places[(*at)++], found))
			return true;
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
