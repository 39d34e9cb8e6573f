#include "base/own_memory.h"

#include <stdatomic.h>

#define PLACES 16384u

uint64_t swz_own_least = UINT64_C(64) << 10;

static struct {
	_Atomic uint64_t start; /* 0: free */
	_Atomic uint64_t end;   /* 0: not yet known */
} ranges[PLACES] __attribute__((section(".bss.large")));

static _Atomic uint32_t used; /* places beyond are free */

static void note_used(uint32_t places)
{
	uint32_t now = atomic_load(&used);

	while (now < places &&
	       !atomic_compare_exchange_weak(&used, &now, places))
		;
}

void swz_own_add(uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&ranges[i].start, &none,
						    start) &&
		    none != start)
			continue;
		atomic_store(&ranges[i].end, start + bytes);
		note_used(i + 1);
		return;
	}
}

void swz_own_remove(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;
	uint32_t places = atomic_load(&used);

	for (uint32_t i = 0; i < places; i++) {
		uint64_t low = atomic_load(&ranges[i].start);
		uint64_t high = atomic_load(&ranges[i].end);

		if (start >= high || end <= low)
			continue;
		if (start > low) {
			atomic_store(&ranges[i].end, start);
		} else if (end < high) {
			atomic_store(&ranges[i].start, end);
		} else {
			atomic_store(&ranges[i].end, 0);
			atomic_store(&ranges[i].start, 0);
		}
	}
}

bool swz_own_next(uint64_t low, uint64_t high, uint64_t *start, uint64_t *end)
{
	uint32_t places = atomic_load(&used);
	bool found = false;

	for (uint32_t i = 0; i < places; i++) {
		uint64_t first = atomic_load(&ranges[i].start);
		uint64_t last = atomic_load(&ranges[i].end);

		first = first > low ? first : low;
		last = last < high ? last : high;
		if (first >= last || (found && first >= *start))
			continue;
		found = true;
		*start = first;
		*end = last;
	}
	return found;
}
