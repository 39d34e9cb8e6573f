/* Open addressing with linear probing, at most half full. */

#include "profile/support/map.h"

#include <stdlib.h>

#include "profile/support/memory.h"

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	uint64_t hash = a * 0x9e3779b97f4a7c15u;

	hash = (hash ^ (hash >> 29) ^ b) * 0xbf58476d1ce4e5b9u;
	hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
	return hash ^ (hash >> 31);
}

static struct swz_map_slot *find(const struct swz_map *map, uint64_t a,
				 uint64_t b)
{
	size_t i = (size_t)hash_pair(a, b) & (map->capacity - 1);

	while (map->slots[i].used &&
	       (map->slots[i].a != a || map->slots[i].b != b))
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static void enlarge(struct swz_map *map)
{
	struct swz_map old = *map;
	size_t i;

	map->capacity = old.capacity ? old.capacity * 2 : 64;
	map->slots = swz_allocate(map->capacity, sizeof(*map->slots));
	for (i = 0; i < old.capacity; i++)
		if (old.slots[i].used)
			*find(map, old.slots[i].a,
			      old.slots[i].b) = old.slots[i];
	free(old.slots);
}

uint32_t swz_map_get(const struct swz_map *map, uint64_t a, uint64_t b)
{
	const struct swz_map_slot *slot;

	if (!map->capacity)
		return SWZ_MAP_NONE;
	slot = find(map, a, b);
	return slot->used ? slot->value : SWZ_MAP_NONE;
}

uint32_t *swz_map_at(struct swz_map *map, uint64_t a, uint64_t b)
{
	struct swz_map_slot *slot;

	if (map->count * 2 >= map->capacity)
		enlarge(map);
	slot = find(map, a, b);
	if (!slot->used) {
		*slot = (struct swz_map_slot){a, b, SWZ_MAP_NONE, 1};
		map->count++;
	}
	return &slot->value;
}

void swz_map_free(struct swz_map *map)
{
	free(map->slots);
	*map = (struct swz_map){0};
}
