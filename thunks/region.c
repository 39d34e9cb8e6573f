#include "thunks/region.h"

#include <stdatomic.h>

#define MOST_REGIONS 4096u

/* `start` is set last and cleared first: who sees it sees the rest. */
static struct place {
	_Atomic(const uint8_t *) start;
	size_t bytes;
	const uint8_t *unwind_header;
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
		return true;
	}
	return false;
}

bool swz_region_at(uint64_t address, struct swz_region *found)
{
	unsigned at = 0;

	while (swz_region_next(&at, found))
		if (address - (uintptr_t)found->start < found->bytes)
			return true;
	return false;
}
