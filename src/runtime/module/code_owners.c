/* Whose code calls. Hooks ask it when they meet a new call edge, since some
 * language runtimes must find the return addresses of their calls unchanged. */

#include "runtime/module/code_owners.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"

/* -------------------------------------------------- modules without tables */

/* Code that is not known was generated at run time, or compiled by V8 itself
 * (its builtins, in the midst of the text): no other code of such a module is
 * as rarely found. */

#define MOST_MODULES 64u

struct known {
	uint32_t first_id, end_id;
	uint64_t load_bias, start, end;
	const struct swz_code_part *parts;
	uint32_t part_count;
};

static struct known all[MOST_MODULES];
static uint32_t known_count; /* stored last, with release */

bool swz_known_code_note(const struct swz_module *m, uint32_t end,
			 const struct swz_code_part *parts, uint32_t count)
{
	if (known_count == MOST_MODULES)
		return false;
	all[known_count] = (struct known){.first_id = m->first_id,
					  .end_id = end,
					  .load_bias = m->load_bias,
					  .start = m->start,
					  .end = m->end,
					  .parts = parts,
					  .part_count = count};
	/* release: matches the acquire in known_of */
	__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
	return true;
}

static const struct known *known_of(uint32_t function)
{
	uint32_t n = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (function >= all[i].first_id && function < all[i].end_id)
			return &all[i];
	return NULL;
}

/* A call returns behind its last byte, which may be the function's. */
static bool has(const struct known *k, uint64_t return_address)
{
	uint64_t at = return_address - k->load_bias;
	uint32_t low;

	SWZ_PARTITION(low, k->part_count, k->parts[low].start < at);
	return low && at <= k->parts[low - 1].end;
}

bool swz_known_code_pass(uint32_t function, uint64_t call_site)
{
	const struct known *k = known_of(function);
	const struct link_map *map;
	uint64_t end;

	if (!k)
		return false;
	if (call_site >= k->start && call_site < k->end)
		return !has(k, call_site);
	return !swz_loaded_map_at(call_site, &map, &end) || !map;
}

/* -------------------------------------- callers made by a language runtime */

/* HotSpot (the Java virtual machine) and Mono begin a walk where the code that
 * they have made last called native code, and take the return address there for
 * one of that code. HotSpot, which exports gHotSpotVMStructs for debuggers,
 * needs that of calls of its own functions only. Mono also compiles ahead of
 * time, into libraries, where its compiler leaves mono_aot_file_info: their
 * functions are called, and call, like those that it makes at run time.
 *
 * JavaScriptCore (WebKit) and SBCL take any word of a stack for what it may be:
 * a return address that leads into code of their making says that this is still
 * in use. Without it they free the code, or move it, under the call that will
 * return there. So calls of any function are let pass, as with Mono.
 * JavaScriptCore is known by what its C interfaces export, SBCL by what saves
 * its heap. MoarVM (Raku) reads the address where code of its making called
 * something to find out where that code is, and writes one there to make it go
 * on elsewhere. */

/* By function id. */
struct ids {
	uint32_t first, end;
};

#define MOST_LOOKERS 4u

static struct ids lookers[MOST_LOOKERS];
static bool any_callee; /* a runtime looks at callers of any function */

static bool looks_at_callers_of_any(const struct link_map *map)
{
	static const char marks[][36] = {
		"mono_add_internal_call",
		"JSGlobalContextCreate", /* JavaScriptCore */
		"jsc_context_new",       /* where it is a part of WPE WebKit */
		"_ZN12QWebSettings14globalSettingsEv", /* of Qt WebKit */
		"gc_and_save",                         /* SBCL */
		"MVM_vm_create_instance",              /* MoarVM */
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (swz_map_symbol(map, marks[i]))
			return true;
	return false;
}

void swz_foreign_callers_arrive(const struct link_map *map)
{
	if (!any_callee && looks_at_callers_of_any(map))
		__atomic_store_n(&any_callee, true, __ATOMIC_RELAXED);
}

/* If there are more, they are taken for one with all that is between them. */
void swz_foreign_callers_note_ids(const struct swz_module *m, uint32_t end)
{
	struct ids *last = &lookers[MOST_LOOKERS - 1];

	if (!m->looks_at_callers)
		return;
	for (unsigned i = 0; i < MOST_LOOKERS; i++) {
		if (lookers[i].end)
			continue;
		lookers[i].first = m->first_id;
		/* release: matches the acquire in swz_foreign_callers_pass */
		__atomic_store_n(&lookers[i].end, end, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&last->end, end, __ATOMIC_RELEASE);
}

static bool looks_at_callers(uint32_t function)
{
	for (unsigned i = 0; i < MOST_LOOKERS; i++) {
		uint32_t end = __atomic_load_n(&lookers[i].end,
					       __ATOMIC_ACQUIRE);

		if (!end)
			return false;
		if (function >= lookers[i].first && function < end)
			return true;
	}
	return false;
}

bool swz_foreign_callers_pass(uint32_t function, uint64_t call_site)
{
	bool any = __atomic_load_n(&any_callee, __ATOMIC_RELAXED);
	const struct link_map *map;
	uint64_t end;

	if (!any && !looks_at_callers(function))
		return false;
	if (!swz_loaded_map_at(call_site, &map, &end) || !map)
		return true;
	return any && swz_map_symbol(map, SWZ_MONO_COMPILED);
}

/* --------------------------------------------------- code made at run time */

/* The answer for run-time code is kept by page, since calls from there ask each
 * time, for each frame. What a file has is asked for with new edges only. */

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
