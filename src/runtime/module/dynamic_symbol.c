#include "runtime/module/dynamic_symbol.h"

#include <elf.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/module/bind.h"
#include "runtime/module/loaded.h"
#include "runtime/support/config.h"

/* The GNU hash table: buckets of chains of hashes, a chain's last odd. */
void *swz_map_symbol_sized(const struct link_map *map, const char *name,
			   uint64_t *bytes)
{
	struct swz_dynamic d;
	uint32_t hash = 5381, buckets, offset, i;
	const uint32_t *bucket, *chain;

	if (!swz_dynamic_read(map->l_addr, map->l_ld, &d) || !d.hash ||
	    !d.hash[0])
		return NULL;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	buckets = d.hash[0];
	offset = d.hash[1];
	bucket = d.hash + 4 + 2 * (size_t)d.hash[2];
	chain = bucket + buckets;
	i = bucket[hash % buckets];
	if (i < offset)
		return NULL;
	for (;; i++) {
		uint32_t h = chain[i - offset];
		const Elf64_Sym *s = &d.symbols[i];

		if ((h | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    strcmp(d.strings + s->st_name, name) == 0) {
			*bytes = s->st_size;
			return (void *)(map->l_addr + s->st_value);
		}
		if (h & 1)
			return NULL;
	}
}

void *swz_map_symbol(const struct link_map *map, const char *name)
{
	uint64_t bytes;

	return swz_map_symbol_sized(map, name, &bytes);
}

const struct link_map *swz_map_at(uint64_t address, uint64_t *end)
{
	const struct link_map *best = NULL;

	/* without a walk through a list that others may be changing */
	if (swz_loaded_map_at(address, &best, end))
		return best;
	*end = UINT64_MAX;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_addr <= address && (!best || m->l_addr > best->l_addr))
			best = m;
		if (m->l_addr > address && m->l_addr < *end)
			*end = m->l_addr;
	}
	return best;
}

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

void *swz_next_symbol(const char *name)
{
	const struct link_map *m = _r_debug.r_map;
	void *found = NULL;

	/* in a process that ran already, all were there before us */
	while (m && m->l_ld != _DYNAMIC && !swz_config.attached)
		m = m->l_next;
	for (; m && !found; m = m->l_next)
		if (m->l_ld != _DYNAMIC)
			found = swz_map_symbol(m, name);
	return found;
}

int swz_next_iterate_phdr(swz_phdr_visitor *visit, void *data)
{
	static _Atomic(void *) known;
	int (*iterate)(swz_phdr_visitor * visitor, void *context);
	/* relaxed: whoever looks it up finds the same */
	void *function = atomic_load_explicit(&known, memory_order_relaxed);

	if (!function) {
		function = swz_next_symbol("dl_iterate_phdr");
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	*(void **)&iterate = function;
	return iterate ? iterate(visit, data) : 0;
}
