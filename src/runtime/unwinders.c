/* Finds the unwinder that is calling, by the module that its code is in. */

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/dynamic_symbol.h"
#include "thunks/trampoline.h"
#include "thunks/unwind.h"

#define MOST_UNWINDERS 8

/* An entry counts while its `end` is not 0. */
static struct swz_unwinder known[MOST_UNWINDERS];
static atomic_bool taken[MOST_UNWINDERS];

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

static uint64_t end_of(const struct swz_unwinder *u)
{
	/* acquire: matches the release in swz_unwinder_of */
	return __atomic_load_n(&u->end, __ATOMIC_ACQUIRE);
}

const struct swz_unwinder *swz_unwinder_of(uint64_t address)
{
	struct swz_unwinder found;

	for (unsigned i = 0; i < MOST_UNWINDERS; i++)
		if (address < end_of(&known[i]) && address >= known[i].start)
			return &known[i];
	if (!look_up(address, &found))
		return NULL;
	for (unsigned i = 0; i < MOST_UNWINDERS; i++) {
		uint64_t end = found.end;

		if (atomic_exchange_explicit(&taken[i], true,
					     memory_order_acquire))
			continue;
		found.end = 0;
		known[i] = found;
		/* release: who sees the end sees the rest */
		__atomic_store_n(&known[i].end, end, __ATOMIC_RELEASE);
		return &known[i];
	}
	return NULL;
}

void swz_unwinders_forget(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MOST_UNWINDERS; i++) {
		struct swz_unwinder *u = &known[i];

		if (end_of(u) <= start || u->start >= end)
			continue;
		if (u->start < start) { /* another's, and in use perhaps */
			__atomic_store_n(&u->end, start, __ATOMIC_RELEASE);
			continue;
		}
		__atomic_store_n(&u->end, 0, __ATOMIC_RELEASE);
		atomic_store_explicit(&taken[i], false, memory_order_release);
	}
}
