#include "runtime/module/loaded.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "image/hash.h"

#define MOST_MODULES (1u << 16)

bool swz_loaded_out_of_date;
uint32_t swz_loaded_recorded;

static struct swz_loaded *table; /* room for MOST_MODULES */
static _Atomic uint32_t used;

size_t swz_loaded_bytes(void)
{
	return MOST_MODULES * sizeof(*table);
}

void swz_loaded_begin(void *room)
{
	table = room;
}

bool swz_loaded_map_at(uint64_t address, const struct link_map **map,
		       uint64_t *end)
{
	uint32_t among = atomic_load_explicit(&used, memory_order_acquire);

	*map = NULL;
	if (swz_loaded_out_of_date)
		return false;
	for (uint32_t i = 0; i < among; i++) {
		const struct swz_loaded *l = &table[i];

		if (atomic_load_explicit(&l->state, memory_order_acquire) !=
			    SWZ_LOADED_PRESENT ||
		    address < l->start || address >= l->end)
			continue;
		*map = l->map;
		*end = l->end;
		break;
	}
	return among != 0;
}

struct swz_loaded *swz_loaded_find(const struct link_map *map)
{
	for (uint32_t i = 0; i < used; i++)
		if (table[i].state == SWZ_LOADED_PRESENT &&
		    table[i].map == map && table[i].load_bias == map->l_addr)
			return &table[i];
	return NULL;
}

void swz_loaded_set_present(struct swz_loaded *l)
{
	/* release: matches the acquire in swz_loaded_map_at */
	atomic_store_explicit(&l->state, SWZ_LOADED_PRESENT,
			      memory_order_release);
	if (l == &table[used])
		atomic_store_explicit(&used, used + 1, memory_order_release);
}

struct swz_loaded *swz_loaded_next(struct swz_loaded *after,
				   enum swz_loaded_state state)
{
	struct swz_loaded *l = after ? after + 1 : table;

	for (; l < table + used; l++)
		if (l->state == state)
			return l;
	return NULL;
}

struct swz_loaded *swz_loaded_new(void)
{
	for (uint32_t i = 0; i < used; i++)
		if (table[i].state == SWZ_LOADED_FREE)
			return &table[i];
	return used < MOST_MODULES ? &table[used] : NULL;
}

uint64_t swz_loaded_identity(const struct swz_module *m)
{
	struct swz_bytes path = {(const uint8_t *)m->path, strlen(m->path)};
	uint64_t hash = swz_hash(m->in_scope, path);

	return swz_module_text_hash(m, swz_hash(hash, m->build_id));
}

struct swz_loaded *swz_loaded_find_dormant(const struct swz_module *m,
					   uint64_t identity)
{
	for (uint32_t i = 0; i < used; i++)
		if (table[i].state == SWZ_LOADED_DORMANT &&
		    table[i].identity == identity &&
		    table[i].load_bias == m->load_bias)
			return &table[i];
	return NULL;
}
