/* Finds the unwinder that is calling, by the module that its code is in. */

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/dynamic_symbol.h"
#include "thunks/trampoline.h"
#include "thunks/unwind.h"

#define MOST_UNWINDERS 8

static struct swz_unwinder known[MOST_UNWINDERS];
static _Atomic unsigned known_count;
static _Atomic unsigned claimed;

/* Our own calls are not the program's. */
static void *past_hook(void *function)
{
	return (void *)(uintptr_t)swz_unhooked(function);
}

static bool look_up(uint64_t address, struct swz_unwinder *u)
{
	const struct link_map *map = swz_map_at(address, &u->end);

	if (!map)
		return false;
	*(void **)&u->get_ip = past_hook(swz_map_symbol(map, "_Unwind_GetIP"));
	*(void **)&u->set_gr = past_hook(swz_map_symbol(map, "_Unwind_SetGR"));
	*(void **)&u->set_ip = past_hook(swz_map_symbol(map, "_Unwind_SetIP"));
	u->resume = swz_map_symbol(map, "_Unwind_Resume");
	u->start = map->l_addr;
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
