/* Names are given after all profiles are read: only then is it known which
 * functions would share one. Two functions never have the same name and file,
 * because viewers take them for one. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/names/catalog.h"
#include "profile/names/symbols.h"

/* --- names of modules ---------------------------------------------------- */

/* Short names are the last parts of paths. Where these are not enough to tell
 * modules apart the whole paths are shown, and where those are the same (a
 * program that was built anew) the build-id's beginning. The versions of a
 * module in a comparison are one. */

/* What the modules of a catalog are called where they are shown. */

enum { SHOWN_ID_BYTES = 4 };

/* The path's last part, or how it was called. */
static const char *short_name(const struct swz_catalog_module *module)
{
	return module->called ? module->called : swz_base_name(module->path);
}

struct clash {
	bool name, path;
};

static struct clash clash_of(const struct swz_catalog *catalog, size_t index)
{
	const struct swz_catalog_module *module = &catalog->modules[index];
	struct clash clash = {false, false};
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		const struct swz_catalog_module *other = &catalog->modules[i];

		if (i == index || other->same_as == module->same_as)
			continue;
		if (other->path == module->path)
			clash.path = true;
		else if (strcmp(short_name(other), short_name(module)) == 0)
			clash.name = true;
	}
	return clash;
}

/* Takes TEXT over. */
static const char *intern(struct swz_catalog *catalog, char *text)
{
	const char *interned = swz_intern(&catalog->strings, text);

	free(text);
	return interned;
}

static const char *with_build_id(struct swz_catalog *catalog,
				 const struct swz_catalog_module *module,
				 const char *name)
{
	char id[2 * SHOWN_ID_BYTES + 1] = "";
	size_t i;

	for (i = 0; i < SHOWN_ID_BYTES && i < module->build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
	return *id ? intern(catalog, swz_print("%s@%s", name, id)) : name;
}

/* To be called when all modules are there; again after more were added. */
static void catalog_name_modules(struct swz_catalog *catalog)
{
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		struct swz_catalog_module *module = &catalog->modules[i];
		struct clash clash = clash_of(catalog, i);

		module->whole = module->path;
		module->name = clash.name ? module->path
					  : swz_intern(&catalog->strings,
						       short_name(module));
		if (!clash.path)
			continue;
		module->whole = with_build_id(catalog, module, module->whole);
		module->name = with_build_id(catalog, module, module->name);
	}
}

const char *swz_catalog_module_path(const struct swz_catalog *catalog,
				    const struct swz_catalog_function *function)
{
	if (function->module == SWZ_INDEX_NONE)
		return NULL;
	return catalog->modules[function->module].whole;
}

const char *swz_catalog_module_name(const struct swz_catalog *catalog,
				    const struct swz_catalog_function *function)
{
	if (function->module == SWZ_INDEX_NONE)
		return "-";
	return catalog->modules[function->module].name;
}

/* --- names that tell functions apart ------------------------------------- */

/* Names must tell functions apart: viewers take two functions with the same
 * name and file for one, whose costs then exceed the total. So functions of one
 * name get their parameters (overloads) or, failing that, the second one its
 * address; where only the module differs it is marked as a namesake and the
 * writers add the module. */

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
	if (function == &catalog->functions[SWZ_CATALOG_COUNTING])
		return swz_intern(&catalog->strings, SWZ_COUNTING_NAME);
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

	catalog_name_modules(catalog);
	for (i = 0; i < catalog->resolved; i++)
		claim_names(&names, &catalog->functions[i], (uint32_t)i);
	swz_progress_stage("finding names",
			   catalog->function_count - catalog->resolved);
	resolve_new(catalog, &names);
	catalog->resolved = catalog->function_count;
	swz_map_free(&names);
}
