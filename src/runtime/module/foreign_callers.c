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

#include "runtime/module/foreign_callers.h"

#include "runtime/module/dynamic_symbol.h"
#include "runtime/module/loaded.h"

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
