/* One pass over /proc/self/maps, which lists mappings in order of address:
 * each gap between two is a candidate, its best placement the one closest to
 * the range. A gap below a growing stack is left alone for some way. */

#include "thunks/near.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/maps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define REACH 0x7fff0000ull /* a bit less than 2 GiB */
#define LOWEST 0x10000ull
#define STACK_ROOM (256ull << 20)
#define HEAP_ROOM (256ull << 20) /* the program break grows upwards */
#define HIGHEST 0x7ffffffff000ull

struct search {
	uint64_t start, end, bytes;
	uint64_t best, best_distance;
};

static void consider(struct search *s, uint64_t low, uint64_t high)
{
	uint64_t at, distance, first, last;

	if (low < LOWEST)
		low = LOWEST;
	if (high < low || high - low < s->bytes)
		return;
	if (low >= s->end) { /* above: as low as it goes */
		at = low;
		first = s->start;
		last = at + s->bytes;
	} else { /* below: as high as it goes */
		at = high - s->bytes;
		first = at;
		last = s->end;
	}
	distance = last - first;
	if (distance > REACH || (s->best && distance >= s->best_distance))
		return;
	s->best = at;
	s->best_distance = distance;
}

static bool find_hole(struct search *s)
{
	struct swz_maps maps;
	struct swz_mapping line;
	uint64_t low = LOWEST;

	s->best = 0;
	if (!swz_maps_open(&maps))
		return false;
	while (swz_maps_next(&maps, &line) && line.low < HIGHEST) {
		uint64_t high = line.low;

		if (line.is_stack)
			high = high > STACK_ROOM ? high - STACK_ROOM : 0;
		consider(s, low, high);
		low = line.high;
		if (line.is_heap)
			low += HEAP_ROOM;
	}
	consider(s, low, HIGHEST);
	swz_maps_close(&maps);
	return s->best != 0;
}

/* Another thread may take a hole before we do. */
#define MOST_ATTEMPTS 16

void *swz_near_map(uint64_t start, uint64_t end, size_t bytes)
{
	struct search s = {.start = start,
			   .end = end,
			   .bytes = (bytes + 4095) & ~(uint64_t)4095};

	for (int i = 0; i < MOST_ATTEMPTS && find_hole(&s); i++) {
		void *hole = (void *)(uintptr_t)s.best;
		void *at = swz_sys_mmap(hole, s.bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS |
						MAP_NORESERVE |
						MAP_FIXED_NOREPLACE,
					-1, 0);

		if (at == hole)
			return at;
		if (at) /* before Linux 4.17: where there was room */
			swz_sys_munmap(at, s.bytes);
	}
	return NULL;
}
