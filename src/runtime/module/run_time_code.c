/* The answer for run-time code is kept by page, since calls from there ask each
 * time, for each frame. What a file has is asked for with new edges only. */

#include "runtime/module/run_time_code.h"

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/module/linker.h"
#include "runtime/module/loaded.h"

#define MOST_BUILT_IN 4u
#define KEPT_PAGES 256u

static struct swz_range built_in[MOST_BUILT_IN];
static unsigned built_in_count;
static struct swz_range linker;

/* By page: page | how often something was forgotten << 52; 0: none. */
static _Atomic uint64_t kept[KEPT_PAGES];
static _Atomic uint64_t forgotten;

void swz_run_time_code_begin(const struct swz_modules *modules)
{
	const struct swz_module *ld_so = swz_linker_module(modules);

	if (ld_so)
		linker = (struct swz_range){ld_so->start, ld_so->end};
	for (unsigned i = 0; i < modules->count; i++) {
		const struct swz_module *m = &modules->of[i];

		if (m->generated.start < m->generated.end &&
		    built_in_count < MOST_BUILT_IN)
			built_in[built_in_count++] = (struct swz_range){
				m->load_bias + m->generated.start,
				m->load_bias + m->generated.end};
	}
}

void swz_run_time_code_forget(void)
{
	atomic_fetch_add_explicit(&forgotten, 1, memory_order_relaxed);
}

/* A call returns behind its last byte, which may be the last of all. */
static bool holds(const struct swz_range *range, uint64_t address)
{
	return address > range->start && address <= range->end;
}

static bool is_built_in(uint64_t address)
{
	for (unsigned i = 0; i < built_in_count; i++)
		if (holds(&built_in[i], address))
			return true;
	return false;
}

enum swz_code_kind swz_code_kind_of(uint64_t address)
{
	uint64_t page = address >> 12;
	uint64_t key = page |
		       atomic_load_explicit(&forgotten, memory_order_relaxed)
			       << 52;
	_Atomic uint64_t *place = &kept[page % KEPT_PAGES];
	const struct link_map *map;
	uint64_t end;

	/* nobody calls from there: a stack that was begun by hand, with 0 for
	 * the outermost frame's return address */
	if (!page)
		return SWZ_CODE_OF_FILE;
	if (atomic_load_explicit(place, memory_order_relaxed) == key)
		return SWZ_CODE_OF_RUN_TIME;
	if (is_built_in(address))
		return SWZ_CODE_BUILT_IN;
	if (holds(&linker, address) ||
	    !swz_loaded_map_at(address - 1, &map, &end) || map)
		return SWZ_CODE_OF_FILE;
	atomic_store_explicit(place, key, memory_order_relaxed);
	return SWZ_CODE_OF_RUN_TIME;
}
