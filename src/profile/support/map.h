#ifndef SWZ_PROFILE_SUPPORT_MAP_H
#define SWZ_PROFILE_SUPPORT_MAP_H

/* A hash map from a pair of integers to an index. Zero-initialise it; it grows
 * as needed and never forgets a key. */

#include <stddef.h>
#include <stdint.h>

#define SWZ_MAP_NONE UINT32_MAX

struct swz_map_slot {
	uint64_t a;
	uint64_t b;
	uint32_t value;
	uint32_t used;
};

struct swz_map {
	struct swz_map_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
};

/* The value of (a, b), or SWZ_MAP_NONE. */
uint32_t swz_map_get(const struct swz_map *map, uint64_t a, uint64_t b);
/* Where the value of (a, b) is kept; SWZ_MAP_NONE if the key is new. Valid
 * until the next call. */
uint32_t *swz_map_at(struct swz_map *map, uint64_t a, uint64_t b);
/* Removes all keys and gives the memory back. */
void swz_map_free(struct swz_map *map);

#endif
