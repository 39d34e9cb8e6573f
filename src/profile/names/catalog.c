/* Modules are the same if their build-ids are; functions, if module and
 * address are. A file holds at most as many functions as fit into it, so
 * indices of 32 bits suffice. */

#include "profile/names/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "profile/names/catalog_modules.h"
#include "profile/support/memory.h"
#include "profile/names/symbols.h"
#include "profile/names/waiting_calls.h"

#define UNKNOWN_MODULE UINT64_MAX

static uint32_t add_function(struct swz_catalog *catalog, uint32_t module,
			     uint64_t address)
{
	swz_grow(&catalog->functions, &catalog->function_capacity,
		 catalog->function_count, sizeof(*catalog->functions));
	catalog->functions[catalog->function_count] =
		(struct swz_catalog_function){.module = module,
					      .address = address};
	return (uint32_t)catalog->function_count++;
}

static uint32_t add_place(struct swz_catalog *catalog,
			  const struct swz_catalog_place *place)
{
	swz_grow(&catalog->places, &catalog->place_capacity,
		 catalog->place_count, sizeof(*catalog->places));
	catalog->places[catalog->place_count] = *place;
	return (uint32_t)catalog->place_count++;
}

void swz_catalog_begin(struct swz_catalog *catalog,
		       const struct swz_catalog_options *options)
{
	*catalog = (struct swz_catalog){.options = *options};
	if (!catalog->options.files)
		catalog->options.files = &swz_debug_files_usual;
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_OUTSIDE */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNKNOWN */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNTRACED */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_KERNEL */
	add_function(catalog, SWZ_INDEX_NONE, 0); /* SWZ_CATALOG_UNSAMPLED */
	add_place(catalog, &(struct swz_catalog_place){NULL, 0, NULL, 0});
}

void swz_catalog_free(struct swz_catalog *catalog)
{
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		swz_symbols_close(catalog->modules[i].symbols);
		swz_embedded_free(&catalog->modules[i].embedded);
		free(catalog->modules[i].paths);
	}
	free(catalog->modules);
	free(catalog->functions);
	free(catalog->places);
	swz_map_free(&catalog->by_address);
	swz_map_free(&catalog->by_site);
	swz_map_free(&catalog->by_location);
	swz_map_free(&catalog->by_symbol);
	swz_intern_free(&catalog->strings);
	*catalog = (struct swz_catalog){0};
}

/* ---- bindings ---- */

/* UINT64_MAX: not known. */
static uint64_t profiled_until(const struct swz_profile *profile)
{
	uint64_t start = profile->header.start_realtime_ns;
	int64_t duration = swz_profile_ns(
		profile, (int64_t)swz_profile_duration_ticks(profile));

	return start ? start + (uint64_t)duration : UINT64_MAX;
}

void swz_catalog_bind(struct swz_binding *binding, struct swz_catalog *catalog,
		      struct swz_profile *profile)
{
	uint64_t end_ns = profiled_until(profile);
	size_t i;

	*binding = (struct swz_binding){.catalog = catalog, .profile = profile};
	catalog->samples |= (profile->header.flags & SWZ_FILE_SAMPLES) != 0;
	catalog->has_unnamed_code |= profile->unnamed_code_nodes != 0;
	catalog->has_named_code |= profile->named_code_nodes != 0;
	binding->modules = swz_allocate(profile->module_count,
					sizeof(uint32_t));
	binding->functions = swz_allocate(profile->function_count,
					  sizeof(uint32_t));
	for (i = 0; i < profile->module_count; i++)
		binding->modules[i] = swz_catalog_add_module(
			catalog, &profile->modules[i], end_ns);
	for (i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *function =
			&profile->functions[i];

		binding->functions[i] = SWZ_INDEX_NONE;
		binding->has_imports |= function->flags & SWZ_FUNCTION_IMPORT &&
					function->status == SWZ_PATCHED;
	}
	swz_catalog_add_embedded(catalog, profile, binding->modules);
}

void swz_binding_free(struct swz_binding *binding)
{
	free(binding->modules);
	free(binding->functions);
	swz_map_free(&binding->places);
	*binding = (struct swz_binding){0};
}

static uint32_t function_at(struct swz_catalog *catalog, uint32_t module,
			    uint64_t address, const char *asked)
{
	uint64_t key = module == SWZ_INDEX_NONE ? UNKNOWN_MODULE : module;
	uint32_t *found = swz_map_at(&catalog->by_address, key, address);
	uint32_t *shared = NULL, index;

	if (*found != SWZ_MAP_NONE)
		return *found;
	if (catalog->matches && module != SWZ_INDEX_NONE) {
		shared = swz_catalog_shared(catalog, module, address, asked);
	}
	index = shared && *shared != SWZ_MAP_NONE
			? *shared
			: add_function(catalog, module, address);
	if (shared)
		*shared = index;
	*swz_map_at(&catalog->by_address, key, address) = index;
	return index;
}

uint32_t swz_binding_function(struct swz_binding *binding, uint32_t index,
			      uint32_t id)
{
	const struct swz_profile_function *function;
	uint32_t module = SWZ_INDEX_NONE, found;
	uint64_t address = id;

	if (id == SWZ_FUNCTION_UNTRACED)
		return SWZ_CATALOG_UNTRACED;
	if (binding->profile->header.flags & SWZ_FILE_SAMPLES) {
		if (id == SWZ_FUNCTION_KERNEL)
			return SWZ_CATALOG_KERNEL;
		if (id == SWZ_FUNCTION_UNSAMPLED)
			return SWZ_CATALOG_UNSAMPLED;
		if (id == SWZ_FUNCTION_CALLERS)
			return SWZ_CATALOG_UNKNOWN;
	}
	if (index == SWZ_INDEX_NONE)
		return function_at(binding->catalog, module, address, NULL);
	if (binding->functions[index] != SWZ_INDEX_NONE)
		return binding->functions[index];
	function = &binding->profile->functions[index];
	if (function->module != SWZ_INDEX_NONE) {
		module = binding->modules[function->module];
		address = function->address;
	}
	found = function_at(binding->catalog, module, address, function->name);
	/* of several names for one address (free, cfree) it is the right one */
	if (function->name)
		binding->catalog->functions[found].asked = swz_intern(
			&binding->catalog->strings, function->name);
	if (function->flags & SWZ_FUNCTION_IMPORT && function->name &&
	    swz_call_waits(function->name))
		binding->catalog->functions[found].waits = true;
	binding->functions[index] = found;
	return found;
}

/* ---- places ---- */

/* Interned strings are 16 bytes apart at least, so the key is exact for files
 * of up to a million lines. */
static uint64_t location_key(const char *text, int line)
{
	return (uint64_t)(uintptr_t)text << 16 ^ (uint32_t)line;
}

static uint32_t place_of(struct swz_catalog *catalog, uint32_t module,
			 uint64_t address)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, module);
	struct swz_catalog_place place = {NULL, 0, NULL, 0};
	struct swz_source source;
	struct swz_inline inlined;
	uint32_t *found;

	if (!symbols)
		return SWZ_PLACE_UNKNOWN;
	source = swz_catalog_line(catalog, module, symbols, address);
	if (!source.file)
		return SWZ_PLACE_UNKNOWN;
	place.file = swz_intern(&catalog->strings, source.file);
	place.line = source.line;
	inlined = swz_symbols_inline(symbols, address);
	if (inlined.name) {
		char *name = swz_demangle(inlined.name,
					  swz_symbols_languages(symbols),
					  catalog->options.demangle);

		place.inlined = swz_intern(&catalog->strings, name);
		place.outer_line = inlined.line;
		free(name);
	}
	/* interned strings: their addresses stand for them */
	found = swz_map_at(&catalog->by_location,
			   location_key(place.file, place.line),
			   location_key(place.inlined, place.outer_line));
	if (*found == SWZ_MAP_NONE)
		*found = add_place(catalog, &place);
	return *found;
}

/* Which of the profile's modules the address is in: CALLER's, a function of the
 * catalog, if it can be; that may have been loaded at several places, and
 * others at the same one. */
static uint32_t module_of_call(const struct swz_binding *binding,
			       uint32_t caller, uint64_t address)
{
	const struct swz_catalog *catalog = binding->catalog;
	uint32_t wanted = catalog->functions[caller].module;
	uint32_t i;

	if (wanted != SWZ_INDEX_NONE)
		wanted = catalog->modules[wanted].same_as;
	for (i = 0; i < binding->profile->module_count; i++)
		if (catalog->modules[binding->modules[i]].same_as == wanted &&
		    swz_profile_module_holds(binding->profile, i, address))
			return i;
	return swz_profile_module_at(binding->profile, address);
}

static uint32_t find_place(struct swz_binding *binding, uint64_t address,
			   uint32_t caller)
{
	struct swz_catalog *catalog = binding->catalog;
	uint32_t module, *found;

	module = module_of_call(binding, caller, address);
	if (module == SWZ_INDEX_NONE)
		return SWZ_PLACE_UNKNOWN;
	/* libc's line that calls main, which nobody looks for, would take its
	 * debug information to be read */
	if (caller == SWZ_CATALOG_OUTSIDE &&
	    !binding->profile->modules[module].record.in_scope)
		return SWZ_PLACE_UNKNOWN;
	address -= binding->profile->modules[module].record.load_bias;
	module = binding->modules[module];
	found = swz_map_at(&catalog->by_site, module, address);
	if (*found == SWZ_MAP_NONE)
		*found = place_of(catalog, module, address);
	return *found;
}

uint32_t swz_binding_place(struct swz_binding *binding, uint64_t return_address,
			   uint32_t caller)
{
	uint32_t *found;

	if (!binding->catalog->options.lines ||
	    return_address == SWZ_CALL_SITE_TAIL)
		return SWZ_PLACE_UNKNOWN;
	found = swz_map_at(&binding->places, return_address, caller);
	/* the instruction before the return address is the call */
	if (*found == SWZ_MAP_NONE)
		*found = find_place(binding, return_address - 1, caller);
	return *found;
}
