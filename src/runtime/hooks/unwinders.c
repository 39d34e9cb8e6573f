/* Finds the unwinder that is calling, by the module that its code is in. One
 * that was linked into a module exports nothing; planning notes where it is, if
 * the file's symbol table tells. */

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/hooks/landing.h"
#include "runtime/hooks/unwind.h"
#include "runtime/module/dynamic_symbol.h"
#include "runtime/support/live_sites.h"
#include "thunks/unhooked.h"

/* A plugin may bring one along that is its own. */
#define MOST_UNWINDERS 64

/* An entry counts while its `end` is not 0. */
static struct swz_unwinder known[MOST_UNWINDERS];
static atomic_bool taken[MOST_UNWINDERS];
/* Of a thread that found no room there: as many threads may throw for the first
 * time at once, each looking for the same. */
static __thread struct swz_unwinder unkept
	__attribute__((tls_model("initial-exec")));
/* What planning has found in symbol tables that are not mapped. */
static struct swz_unwinder noted[MOST_UNWINDERS];
static unsigned noted_count;

/* Our own calls are not the program's. */
static void *past_hook(void *function)
{
	return (void *)(uintptr_t)swz_unhooked(function);
}

static bool is_complete(const struct swz_unwinder *u)
{
	return u->get_ip && u->set_gr && u->set_ip && u->resume;
}

static uint64_t end_of(const struct swz_unwinder *u)
{
	/* acquire: matches the release in publish */
	return __atomic_load_n(&u->end, __ATOMIC_ACQUIRE);
}

static bool is_of(const struct swz_unwinder *u, uint64_t address)
{
	return address < end_of(u) && address >= u->start;
}

/* At a place that does not count yet. */
static void publish(struct swz_unwinder *at, struct swz_unwinder u)
{
	uint64_t end = u.end;

	u.end = 0;
	*at = u;
	/* release: who sees the end sees the rest */
	__atomic_store_n(&at->end, end, __ATOMIC_RELEASE);
}

bool swz_unwinder_note(const struct swz_unwinder *unwinder)
{
	unsigned i = 0;

	while (i < noted_count && noted[i].end)
		i++;
	if (!is_complete(unwinder) || i == MOST_UNWINDERS)
		return false;
	publish(&noted[i], *unwinder);
	if (i == noted_count)
		noted_count++;
	return true;
}

bool swz_unwinders_export(const char *name)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (swz_map_symbol(m, name))
			return true;
	return false;
}

/* One may go, and another come, while it is read. */
static bool look_up_noted(uint64_t address, struct swz_unwinder *u)
{
	for (unsigned i = 0; i < noted_count; i++) {
		if (!is_of(&noted[i], address))
			continue;
		*u = noted[i];
		atomic_thread_fence(memory_order_acquire);
		if (is_of(u, address) && end_of(&noted[i]) == u->end)
			return true;
	}
	return false;
}

static struct swz_unwinder_begins begins(const struct link_map *map,
					 const char *name)
{
	struct swz_unwinder_begins b = {0};
	void *function = swz_map_symbol_sized(map, name, &b.bytes);

	/* its own slot must hold the real return address */
	if (function == past_hook(function))
		b.start = (uintptr_t)function;
	return b;
}

static bool look_up(uint64_t address, struct swz_unwinder *u)
{
	const struct link_map *map = swz_map_at(address, &u->end);

	if (!map)
		return false;
	*(void **)&u->get_ip = swz_map_symbol(map, "_Unwind_GetIP");
	if (!u->get_ip)
		*(void **)&u->get_ip = swz_map_symbol(map, "_Unwind_GetIPInfo");
	*(void **)&u->set_gr = swz_map_symbol(map, "_Unwind_SetGR");
	*(void **)&u->set_ip = swz_map_symbol(map, "_Unwind_SetIP");
	*(void **)&u->get_gr = swz_map_symbol(map, "_Unwind_GetGR");
	*(void **)&u->get_cfa = swz_map_symbol(map, "_Unwind_GetCFA");
	u->resume = swz_map_symbol(map, "_Unwind_Resume");
	u->raise = begins(map, "_Unwind_RaiseException");
	u->go_on = begins(map, "_Unwind_Resume");
	u->start = map->l_addr;
	return is_complete(u);
}

/* Where it is known from now on. */
static const struct swz_unwinder *keep(const struct swz_unwinder *found,
				       uint64_t address)
{
	for (unsigned i = 0; i < MOST_UNWINDERS; i++) {
		if (atomic_exchange_explicit(&taken[i], true,
					     memory_order_acquire)) {
			if (is_of(&known[i], address)) /* by now */
				return &known[i];
			continue;
		}
		publish(&known[i], *found);
		return &known[i];
	}
	unkept = *found;
	return &unkept;
}

const struct swz_unwinder *swz_unwinder_of(uint64_t address)
{
	const bool written = swz_live_sites_are_written();
	struct swz_unwinder found;
	const void *past_wrapper;

	for (unsigned i = 0; i < MOST_UNWINDERS; i++)
		if (is_of(&known[i], address))
			return &known[i];
	if (!look_up_noted(address, &found) && !look_up(address, &found))
		return NULL;
	/* _Unwind_Resume above all: a hook would call it from where our landing
	 * pad was, and that frame's thunk would land there again */
	*(void **)&found.get_ip = past_hook(*(void **)&found.get_ip);
	*(void **)&found.set_gr = past_hook(*(void **)&found.set_gr);
	*(void **)&found.get_gr = past_hook(*(void **)&found.get_gr);
	*(void **)&found.get_cfa = past_hook(*(void **)&found.get_cfa);
	past_wrapper = swz_unwrapped(*(void **)&found.set_ip, swz_wrap_set_ip);
	found.wraps_set_ip = past_wrapper != NULL;
	*(void **)&found.set_ip = past_wrapper
					  ? (void *)(uintptr_t)past_wrapper
					  : past_hook(*(void **)&found.set_ip);
	found.resume = past_hook(found.resume);
	/* (what leads past no hook now does not when that is there) */
	if (written && swz_live_sites_are_written())
		return keep(&found, address);
	unkept = found;
	return &unkept;
}

static _Atomic bool tell_nothing;

void swz_unwinders_tell_nothing(void)
{
	tell_nothing = true;
}

bool swz_unwinder_tells_landing(const struct swz_unwinder *unwinder)
{
	return unwinder->wraps_set_ip &&
	       !atomic_load_explicit(&tell_nothing, memory_order_relaxed);
}

static bool is_in(uint64_t address, const struct swz_unwinder_begins *b)
{
	return b->start && address - b->start < b->bytes;
}

enum swz_unwinding swz_unwinder_begins(uint64_t address, uint64_t *module_start,
				       uint64_t *module_end)
{
	for (unsigned i = 0; i < MOST_UNWINDERS && end_of(&known[i]); i++) {
		const struct swz_unwinder *u = &known[i];

		if (!is_of(u, address))
			continue;
		*module_start = u->start;
		*module_end = end_of(u);
		if (!swz_unwinder_tells_landing(u))
			return SWZ_UNWINDING_NOT;
		return is_in(address, &u->raise)   ? SWZ_UNWINDING_RAISES
		       : is_in(address, &u->go_on) ? SWZ_UNWINDING_GOES_ON
						   : SWZ_UNWINDING_NOT;
	}
	return SWZ_UNWINDING_NOT;
}

void swz_unwinders_forget(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < noted_count; i++)
		if (noted[i].start >= start && noted[i].start < end)
			__atomic_store_n(&noted[i].end, 0, __ATOMIC_RELEASE);
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
