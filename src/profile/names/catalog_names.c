/* Names must tell functions apart: viewers take two functions with the same
 * name and file for one, whose costs then exceed the total. So functions of one
 * name get their parameters (overloads) or, failing that, the second one its
 * address; where only the module differs it is marked as a namesake and the
 * writers add the module. */

#include "profile/names/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/names/catalog_modules.h"
#include "profile/names/module_names.h"
#include "profile/names/symbols.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

static const char *made_up_name(struct swz_catalog *catalog,
				const struct swz_catalog_function *function)
{
	char name[40];

	if (function == &catalog->functions[SWZ_CATALOG_OUTSIDE])
		return swz_intern(&catalog->strings,
				  catalog->samples ? SWZ_ALL_NAME
						   : SWZ_OUTSIDE_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNKNOWN])
		return swz_intern(&catalog->strings, SWZ_UNKNOWN_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNTRACED])
		return swz_intern(&catalog->strings, SWZ_UNTRACED_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_KERNEL])
		return swz_intern(&catalog->strings, SWZ_KERNEL_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNSAMPLED])
		return swz_intern(&catalog->strings, SWZ_UNSAMPLED_NAME);
	snprintf(name, sizeof(name),
		 function->module == SWZ_INDEX_NONE ? "function_%" PRIu64
						    : "sub_%" PRIx64,
		 function->address);
	return swz_intern(&catalog->strings, name);
}

static const char *name_in_style(struct swz_catalog *catalog,
				 struct swz_catalog_function *function,
				 enum swz_demangle style)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog,
							  function->module);
	const char *symbol = function->asked, *name;
	uint64_t offset = 0;
	char *plain, *demangled;

	if (symbols && !symbol)
		symbol = swz_symbols_name(symbols, function->address, &offset);
	if (!symbol) {
		function->nameless = function->module != SWZ_INDEX_NONE;
		return made_up_name(catalog, function);
	}
	plain = swz_symbol_without_version(symbol);
	demangled = swz_demangle(
		plain, symbols ? swz_symbols_languages(symbols) : 0, style);
	free(plain);
	if (offset) {
		char *longer = swz_print("%s+0x%" PRIx64, demangled, offset);

		free(demangled);
		demangled = longer;
	}
	name = swz_intern(&catalog->strings, demangled);
	free(demangled);
	return name;
}

static void resolve(struct swz_catalog *catalog,
		    struct swz_catalog_function *function)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog,
							  function->module);

	function->name = name_in_style(catalog, function,
				       catalog->options.demangle);
	function->first_name = function->name;
	if (symbols && catalog->options.lines) {
		struct swz_source source = swz_catalog_line(
			catalog, function->module, symbols, function->address);

		function->file = swz_intern(&catalog->strings, source.file);
		function->line = source.line;
	}
}

static uint32_t *by_name(struct swz_map *names,
			 const struct swz_catalog_function *function)
{
	return swz_map_at(names, (uintptr_t)function->name,
			  (uintptr_t)function->file);
}

static void claim(uint32_t *holder, uint32_t index)
{
	if (*holder == SWZ_MAP_NONE)
		*holder = index;
}

/* True if that name is the function's alone. */
static bool name_in_full(struct swz_catalog *catalog, struct swz_map *names,
			 struct swz_catalog_function *function)
{
	uint32_t index = (uint32_t)(function - catalog->functions);
	uint32_t *holder;

	if (!SWZ_CATALOG_IS_REAL(index))
		return true;
	function->name = name_in_style(catalog, function, SWZ_DEMANGLE_FULL);
	holder = by_name(names, function);
	claim(holder, index);
	return *holder == index;
}

/* Gives a function whose name another one already has a better one. */
static void tell_apart(struct swz_catalog *catalog, struct swz_map *names,
		       struct swz_catalog_function *function)
{
	struct swz_catalog_function *other;
	uint32_t index = (uint32_t)(function - catalog->functions);
	uint32_t *holder = by_name(names, function);
	char *name;

	if (*holder == SWZ_MAP_NONE) {
		*holder = index;
		return;
	}
	other = &catalog->functions[*holder];
	if (!function->file && other->module != function->module) {
		function->namesake = true;
		return;
	}
	if (catalog->options.demangle == SWZ_DEMANGLE_SIMPLE) {
		/* overloads: all of them get their parameters */
		name_in_full(catalog, names, other);
		if (name_in_full(catalog, names, function))
			return;
	}
	name = swz_print("%s@%" PRIx64, function->name, function->address);
	function->name = swz_intern(&catalog->strings, name);
	free(name);
}

/* Of a function that has its name already. It also holds the one that was too
 * short for several, or the next overload would get that. */
static void claim_names(struct swz_map *names,
			const struct swz_catalog_function *function,
			uint32_t index)
{
	claim(swz_map_at(names, (uintptr_t)function->first_name,
			 (uintptr_t)function->file),
	      index);
	claim(by_name(names, function), index);
}

/* By module and address: of namesakes the first has the plain name. */
static int by_place(const void *a, const void *b)
{
	const struct swz_catalog_function *one = *(
		struct swz_catalog_function *const *)a;
	const struct swz_catalog_function *other = *(
		struct swz_catalog_function *const *)b;

	if (one->module != other->module)
		return one->module < other->module ? -1 : 1;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* In an order that does not depend on where they were met first: formats read
 * profiles in different ones, and have the same names. */
static void resolve_new(struct swz_catalog *catalog, struct swz_map *names)
{
	size_t count = catalog->function_count - catalog->resolved, i;
	struct swz_catalog_function **sorted = swz_allocate(
		count + 1, sizeof(struct swz_catalog_function *));

	for (i = 0; i < count; i++)
		sorted[i] = &catalog->functions[catalog->resolved + i];
	qsort(sorted, count, sizeof(*sorted), by_place);
	for (i = 0; i < count; i++) {
		swz_progress_add(1);
		resolve(catalog, sorted[i]);
		tell_apart(catalog, names, sorted[i]);
	}
	free(sorted);
}

void swz_catalog_resolve(struct swz_catalog *catalog)
{
	struct swz_map names = {0};
	size_t i;

	swz_catalog_name_modules(catalog);
	for (i = 0; i < catalog->resolved; i++)
		claim_names(&names, &catalog->functions[i], (uint32_t)i);
	swz_progress_stage("finding names",
			   catalog->function_count - catalog->resolved);
	resolve_new(catalog, &names);
	catalog->resolved = catalog->function_count;
	swz_map_free(&names);
}
