/* The modules, functions and places of one profile, in a sum of profiles: what
 * is the same in both gets one number. */

#include "profile/costs/merge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/file/reader.h"

/* --- modules, functions, places ------------------------------------------ */

/* Modules are the same as everywhere: by build-id, or by path where they have
 * none. Code that lies in no file (made at run time, or a script's) has made-up
 * addresses, of its name and line: there a function is known by address and
 * name. It keeps the address, so a reader takes it for the same in a profile
 * and in a sum. */

#define NONE SWZ_INDEX_NONE
#define UNKNOWN_MODULE UINT64_MAX

static bool is_same_file(const struct swz_merge_module *known,
			 const struct swz_profile_module *module)
{
	const struct swz_module_record *a = &known->record;
	const struct swz_module_record *b = &module->record;

	if (a->build_id_bytes != b->build_id_bytes ||
	    memcmp(a->build_id, b->build_id, b->build_id_bytes) != 0)
		return false;
	return strcmp(known->path, module->path) == 0 ||
	       (b->build_id_bytes && a->end - a->start == b->end - b->start);
}

static uint32_t add_module(struct swz_merge *merge,
			   const struct swz_profile_module *module)
{
	struct swz_merge_module *found;
	uint32_t i;

	for (i = 0; i < merge->module_count; i++)
		if (is_same_file(&merge->modules[i], module))
			return i;
	swz_grow(&merge->modules, &merge->module_capacity, merge->module_count,
		 sizeof(*merge->modules));
	found = &merge->modules[merge->module_count];
	*found = (struct swz_merge_module){
		.path = swz_intern(&merge->strings, module->path),
		.record = module->record,
		.by_name = module->record.start >= SWZ_NO_FILE_START};
	return (uint32_t)merge->module_count++;
}

void swz_merge_names_begin(struct swz_merge_names *names,
			   struct swz_merge *merge, struct swz_profile *profile)
{
	size_t i;

	*names = (struct swz_merge_names){.merge = merge, .profile = profile};
	names->modules = swz_allocate(profile->module_count,
				      sizeof(*names->modules));
	names->functions = swz_allocate(profile->function_count,
					sizeof(*names->functions));
	for (i = 0; i < profile->module_count; i++)
		names->modules[i] = add_module(merge, &profile->modules[i]);
	for (i = 0; i < profile->function_count; i++)
		names->functions[i] = NONE;
	for (i = 0; i < profile->symbol_count; i++) {
		uint32_t *symbol = swz_map_at(&names->named,
					      profile->symbols[i].module,
					      profile->symbols[i].address);

		if (*symbol == SWZ_MAP_NONE)
			*symbol = (uint32_t)i;
	}
}

static uint32_t add_function(struct swz_merge *merge, uint32_t module,
			     uint64_t address,
			     const struct swz_profile_function *from)
{
	swz_grow(&merge->functions, &merge->function_capacity,
		 merge->function_count, sizeof(*merge->functions));
	merge->functions[merge->function_count] = (struct swz_merge_function){
		.module = module,
		.address = address,
		.size = from->size,
		.status = from->status,
		.flags = from->flags};
	return (uint32_t)merge->function_count++;
}

static uint64_t named_key(uint32_t module, uint64_t address)
{
	return (uint64_t)module << 32 | (uint32_t)address;
}

static uint32_t function_by_name(struct swz_merge *merge, uint32_t module,
				 const char *name,
				 const struct swz_profile_function *from)
{
	uint64_t address = from->address;
	uint32_t *found, *taken;

	name = swz_intern(&merge->strings, name);
	found = swz_map_at(&merge->by_name, named_key(module, address),
			   (uintptr_t)name);
	if (*found != SWZ_MAP_NONE)
		return *found;
	while (*(taken = swz_map_at(&merge->by_address, module, address)) !=
	       SWZ_MAP_NONE)
		address = (uint32_t)(address + 1);
	return *found = *taken = add_function(merge, module, address, from);
}

static uint32_t find_function(struct swz_merge_names *names,
			      const struct swz_profile_function *from)
{
	struct swz_merge *merge = names->merge;
	uint32_t module = NONE, symbol, *found;

	if (from->module != NONE)
		module = names->modules[from->module];
	if (module != NONE && merge->modules[module].by_name) {
		symbol = swz_map_get(&names->named, from->module,
				     from->address);
		return function_by_name(
			merge, module,
			symbol == SWZ_MAP_NONE
				? "[unknown]"
				: names->profile->symbols[symbol].name,
			from);
	}
	/* they come in the order of another profile's, mostly */
	if (++names->last < merge->function_count &&
	    merge->functions[names->last].module == module &&
	    merge->functions[names->last].address == from->address)
		return names->last;
	found = swz_map_at(&merge->by_address,
			   module == NONE ? UNKNOWN_MODULE : module,
			   from->address);
	if (*found == SWZ_MAP_NONE)
		*found = add_function(merge, module, from->address, from);
	names->last = *found;
	return *found;
}

uint32_t swz_merge_function(struct swz_merge_names *names, uint32_t index)
{
	const struct swz_profile_function *from =
		&names->profile->functions[index];
	struct swz_merge_function *to;

	if (names->functions[index] == NONE)
		names->functions[index] = find_function(names, from);
	to = &names->merge->functions[names->functions[index]];
	if (from->name)
		to->asked = swz_intern(&names->merge->strings, from->name);
	if (!(from->flags & SWZ_FUNCTION_IMPORT))
		to->flags &= (uint16_t)~SWZ_FUNCTION_IMPORT;
	return names->functions[index];
}

void swz_merge_site(struct swz_merge_names *names, uint64_t call_site,
		    struct swz_merge_node *node)
{
	const struct swz_profile *profile = names->profile;
	uint32_t module, *cached;

	node->site_module = NONE;
	node->site = SWZ_CALL_SITE_TAIL;
	if (call_site == SWZ_CALL_SITE_TAIL)
		return;
	cached = swz_map_at(&names->sites, call_site >> 12, 0);
	if (*cached == SWZ_MAP_NONE ||
	    !swz_profile_module_holds(profile, *cached, call_site))
		*cached = swz_profile_module_at(profile, call_site);
	module = *cached;
	node->site = 1; /* of no module */
	if (module == NONE ||
	    names->merge->modules[names->modules[module]].by_name)
		return;
	node->site_module = names->modules[module];
	node->site = call_site - profile->modules[module].record.load_bias;
}

/* ------------------------------------------------------ embedded names */

/* Addresses of functions in no file are others in the sum; NONE there: it was
 * not called. */
static bool translate(const struct swz_merge_names *names, uint32_t module,
		      uint64_t *address)
{
	struct swz_merge *merge = names->merge;
	uint32_t symbol, function;

	if (!merge->modules[names->modules[module]].by_name)
		return true;
	symbol = swz_map_get(&names->named, module, *address);
	if (symbol == SWZ_MAP_NONE)
		return false;
	function = swz_map_get(
		&merge->by_name, named_key(names->modules[module], *address),
		(uintptr_t)swz_intern(&merge->strings,
				      names->profile->symbols[symbol].name));
	if (function == SWZ_MAP_NONE)
		return false;
	*address = merge->functions[function].address;
	return true;
}

static void add_symbol(struct swz_merge_names *names,
		       const struct swz_profile_symbol *from)
{
	struct swz_merge *merge = names->merge;
	uint32_t module = names->modules[from->module], *found;
	uint64_t address = from->address;
	const char *name = swz_intern(&merge->strings, from->name);

	if (!translate(names, from->module, &address))
		return;
	found = swz_map_at(&merge->by_symbol, (uint64_t)module << 48 ^ address,
			   (uintptr_t)name);
	if (*found != SWZ_MAP_NONE)
		return;
	*found = (uint32_t)merge->symbol_count;
	swz_grow(&merge->symbols, &merge->symbol_capacity, merge->symbol_count,
		 sizeof(*merge->symbols));
	merge->symbols[merge->symbol_count++] = (struct swz_merge_symbol){
		.module = module,
		.number = from->number,
		.languages = from->languages,
		.address = address,
		.size = from->size,
		.name = name,
		.file = swz_intern(&merge->strings, from->file)};
}

static void add_line(struct swz_merge_names *names,
		     const struct swz_profile_line *from)
{
	struct swz_merge *merge = names->merge;
	uint32_t module = names->modules[from->module], *found;
	uint64_t address = from->address;

	if (!translate(names, from->module, &address))
		return;
	found = swz_map_at(&merge->by_line, module, address);
	if (*found != SWZ_MAP_NONE)
		return;
	*found = (uint32_t)merge->line_count;
	swz_grow(&merge->lines, &merge->line_capacity, merge->line_count,
		 sizeof(*merge->lines));
	merge->lines[merge->line_count++] = (struct swz_merge_line){
		.module = module,
		.line = from->line,
		.outer_line = from->outer_line,
		.address = address,
		.file = swz_intern(&merge->strings, from->file),
		.inlined = swz_intern(&merge->strings, from->inlined)};
}

void swz_merge_names_end(struct swz_merge_names *names)
{
	size_t i;

	for (i = 0; i < names->profile->symbol_count; i++)
		add_symbol(names, &names->profile->symbols[i]);
	for (i = 0; i < names->profile->line_count; i++)
		add_line(names, &names->profile->lines[i]);
	free(names->modules);
	free(names->functions);
	swz_map_free(&names->named);
	swz_map_free(&names->sites);
}
