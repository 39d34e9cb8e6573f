#ifndef SWZ_THUNKS_REGION_H
#define SWZ_THUNKS_REGION_H

/* The regions of trampolines that there are, for those who look for unwind
 * information. Finding takes no lock and is async-signal-safe; adding and
 * removing is for one thread at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_region {
	const uint8_t *start;
	size_t bytes;
	const uint8_t *unwind_header; /* its .eh_frame_hdr */
	/* Jumps into the region that lie in foreign places: their distances
	 * from `start`, in order. The unwind information is theirs too. */
	const int32_t *islands;
	uint32_t island_count;
};

/* Of an island's jump, for unwinders: a thread may be found at its first byte
 * only. The others may be what comes before the return address of a call that
 * was displaced from there, and that frame is the neighbour's. */
#define SWZ_ISLAND_BYTES 1

/* At most 4096 regions are known; false: it is not. Those of modules that are
 * gone should not be: all are looked at for each frame that is unwound. */
bool swz_region_add(const struct swz_region *region);
void swz_region_remove(const uint8_t *start);

/* The region that holds the address, or the place of one of its islands that
 * does (start and bytes are the island's then); false: none does. */
bool swz_region_at(uint64_t address, struct swz_region *found);

/* The region at place `*at`, or at the next that holds one; moves *at behind
 * it. Begin with 0; false: there are no more. */
bool swz_region_next(unsigned *at, struct swz_region *found);

#endif
