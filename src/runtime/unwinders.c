/* Finds the unwinder that is calling: the module loaded last below an address
 * that exports the unwinding interface. Looked up in the dynamic symbol tables
 * themselves, since the dynamic linker's lookups answer for the whole process
 * and take its lock. */

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "thunks/trampoline.h"
#include "thunks/unwind.h"

#define MOST_UNWINDERS 8

static struct swz_unwinder known[MOST_UNWINDERS];
static _Atomic unsigned known_count;
static _Atomic unsigned claimed;

struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static struct tables tables_of(const struct link_map *map)
{
	struct tables t = {0};

	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag; d++) {
		const void *p = (const void *)d->d_un.d_ptr;

		if ((uintptr_t)p < map->l_addr)
			continue; /* the vdso's are not relocated */
		if (d->d_tag == DT_SYMTAB)
			t.symbols = p;
		else if (d->d_tag == DT_STRTAB)
			t.strings = p;
		else if (d->d_tag == DT_GNU_HASH)
			t.hash = p;
	}
	return t;
}

/* The GNU hash table: buckets of chains of hashes, a chain's last odd. */
static void *find(const struct link_map *map, const struct tables *t,
		  const char *name)
{
	uint32_t hash = 5381, buckets, offset, i;
	const uint32_t *bucket, *chain;

	if (!t->symbols || !t->strings || !t->hash || !t->hash[0])
		return NULL;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	buckets = t->hash[0];
	offset = t->hash[1];
	bucket = t->hash + 4 + 2 * (size_t)t->hash[2];
	chain = bucket + buckets;
	i = bucket[hash % buckets];
	if (i < offset)
		return NULL;
	for (;; i++) {
		uint32_t h = chain[i - offset];
		const Elf64_Sym *s = &t->symbols[i];

		if ((h | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    strcmp(t->strings + s->st_name, name) == 0)
			return (void *)(map->l_addr + s->st_value);
		if (h & 1)
			return NULL;
	}
}

/* The way past a hook: where a patched function's trampoline keeps its
 * relocated prologue. Our own calls are not the program's. */
static void *unhooked(void *function)
{
	const uint8_t *code = function, *trampoline;
	int32_t distance;

	if (!code)
		return NULL;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e)
		code += 4; /* endbr64 */
	if (code[0] != 0xe9)
		return function;
	memcpy(&distance, code + 1, sizeof(distance));
	trampoline = code + 5 + distance;
	return swz_trampoline_is(trampoline)
		       ? (void *)(uintptr_t)(trampoline + SWZ_TRAMPOLINE_BODY)
		       : function;
}

static bool look_up(uint64_t address, struct swz_unwinder *u)
{
	const struct link_map *best = NULL;
	uint64_t next = UINT64_MAX;
	struct tables t;

	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_addr <= address && (!best || m->l_addr > best->l_addr))
			best = m;
		if (m->l_addr > address && m->l_addr < next)
			next = m->l_addr;
	}
	if (!best)
		return false;
	t = tables_of(best);
	*(void **)&u->get_ip = unhooked(find(best, &t, "_Unwind_GetIP"));
	*(void **)&u->set_gr = unhooked(find(best, &t, "_Unwind_SetGR"));
	*(void **)&u->set_ip = unhooked(find(best, &t, "_Unwind_SetIP"));
	u->resume = find(best, &t, "_Unwind_Resume");
	u->start = best->l_addr;
	u->end = next;
	return u->get_ip && u->set_gr && u->set_ip && u->resume;
}

const struct swz_unwinder *swz_unwinder_of(uint64_t address)
{
	/* acquire: matches the release below */
	unsigned n = atomic_load_explicit(&known_count, memory_order_acquire);
	struct swz_unwinder found;
	unsigned slot;

	for (unsigned i = 0; i < n; i++)
		if (address >= known[i].start && address < known[i].end)
			return &known[i];
	if (!look_up(address, &found))
		return NULL;
	slot = atomic_fetch_add_explicit(&claimed, 1, memory_order_relaxed);
	if (slot >= MOST_UNWINDERS)
		return NULL;
	known[slot] = found;
	/* slots become visible in order; a thread that is ahead of another's
	 * store makes both visible only if both are written: so count up only
	 * from one's own slot */
	if (slot == atomic_load_explicit(&known_count, memory_order_relaxed))
		atomic_store_explicit(&known_count, slot + 1,
				      memory_order_release);
	return &known[slot];
}
