/* Versions of a module: a program and its libraries before and after they were
 * changed. Which modules these are is told by path and, failing that, by the
 * name of the file; the programs themselves may be called what they like. Each
 * module is a version of one at most.
 *
 * A function is known by its symbol; a static one, as there may be several of
 * the same name, by its source file's name, too, and among those of one file by
 * their order, which they keep if the program is built anew. Where there are no
 * symbols, addresses mean nothing but in the same file. */

#include <stdlib.h>
#include <string.h>

#include "profile/names/catalog.h"
#include "profile/names/catalog_modules.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/names/symbols.h"

enum side { NEW = 1, OLD = 2, TAKEN = 4 /* by an old one */ };

struct matching {
	struct swz_catalog *catalog;
	uint8_t *sides; /* per module of the catalog */
};

static void note_side(struct matching *m, const struct swz_binding *binding,
		      enum side side)
{
	size_t i;

	for (i = 0; i < binding->profile->module_count; i++)
		m->sides[binding->modules[i]] |= (uint8_t)side;
}

static bool is_old_only(const struct matching *m, size_t module)
{
	return !(m->sides[module] & NEW);
}

/* (Paths are interned.) */
static bool share_path(const struct swz_catalog_module *a,
		       const struct swz_catalog_module *b)
{
	size_t i, j;

	for (i = 0; i < a->path_count; i++)
		for (j = 0; j < b->path_count; j++)
			if (a->paths[i] == b->paths[j])
				return true;
	return false;
}

/* The first module of that side that was at the same path. */
static uint32_t first_of_path(const struct matching *m, size_t module,
			      enum side side)
{
	const struct swz_catalog_module *modules = m->catalog->modules;
	uint32_t i;

	for (i = 0; i < m->catalog->module_count; i++)
		if (m->sides[i] & side &&
		    share_path(&modules[i], &modules[module]))
			return i;
	return (uint32_t)module;
}

static bool has_counterpart(const struct matching *m, size_t module)
{
	return !is_old_only(m, m->catalog->modules[module].same_as);
}

/* All old versions of that path are versions of a new one. */
static void take(struct matching *m, size_t old, uint32_t new)
{
	struct swz_catalog_module *modules = m->catalog->modules;
	size_t i;

	m->sides[new] |= TAKEN;
	for (i = 0; i < m->catalog->module_count; i++)
		if (is_old_only(m, i) && share_path(&modules[i], &modules[old]))
			modules[i].same_as = new;
}

static bool is_free(const struct matching *m, uint32_t new)
{
	return !is_old_only(m, new) &&
	       m->catalog->modules[new].same_as == new &&
	       !(m->sides[new] & (OLD | TAKEN));
}

static void match_path(struct matching *m, size_t module)
{
	struct swz_catalog_module *modules = m->catalog->modules;
	uint32_t new = first_of_path(m, module, NEW);

	modules[module].same_as = is_old_only(m, new)
					  ? first_of_path(m, module, OLD)
					  : new;
	if (is_old_only(m, module) && !is_old_only(m, new))
		m->sides[new] |= TAKEN;
}

static void match_file_name(struct matching *m, size_t module)
{
	const struct swz_catalog_module *modules = m->catalog->modules;
	const char *name = swz_base_name(modules[module].path);
	uint32_t i;

	for (i = 0; i < m->catalog->module_count; i++) {
		if (!is_free(m, i) ||
		    strcmp(swz_base_name(modules[i].path), name) != 0)
			continue;
		take(m, module, i);
		return;
	}
}

/* The program that a profile is of; SWZ_INDEX_NONE if it is not there. */
static uint32_t program_of(const struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	size_t i;

	for (i = 0; i < profile->module_count; i++)
		if (strcmp(profile->modules[i].path, profile->executable) == 0)
			return binding->modules[i];
	return SWZ_INDEX_NONE;
}

static void match_program(struct matching *m, uint32_t old,
			  const struct swz_binding *bindings, size_t new_count)
{
	size_t i;

	if (old == SWZ_INDEX_NONE || has_counterpart(m, old))
		return;
	for (i = 0; i < new_count; i++) {
		uint32_t new = program_of(&bindings[i]);

		if (new == SWZ_INDEX_NONE || !is_free(m, new))
			continue;
		take(m, old, new);
		return;
	}
}

void swz_catalog_match(struct swz_catalog *catalog,
		       const struct swz_binding *bindings, size_t new_count,
		       size_t count)
{
	struct matching m = {.catalog = catalog};
	size_t i;

	m.sides = swz_allocate(catalog->module_count, 1);
	for (i = 0; i < count; i++)
		note_side(&m, &bindings[i], i < new_count ? NEW : OLD);
	for (i = 0; i < catalog->module_count; i++)
		match_path(&m, i);
	for (i = 0; i < catalog->module_count; i++)
		if (!has_counterpart(&m, i))
			match_file_name(&m, i);
	for (i = new_count; i < count; i++)
		match_program(&m, program_of(&bindings[i]), bindings,
			      new_count);
	catalog->matches = true;
	free(m.sides);
}

uint32_t *swz_catalog_shared(struct swz_catalog *catalog, uint32_t module,
			     uint64_t address, const char *asked)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, module);
	const char *symbol = asked, *file = NULL;
	uint64_t offset = 0;
	uint32_t number = 0;
	char *key;

	if (!symbol && symbols)
		symbol = swz_symbols_name(symbols, address, &offset);
	if (!symbol || offset)
		return swz_map_at(&catalog->by_address, module, address);
	if (symbol != asked)
		number = swz_symbols_number(symbols, address, &file);
	key = swz_print("%s\n%s", symbol, file ? file : "");
	symbol = swz_intern(&catalog->strings, key);
	free(key);
	return swz_map_at(&catalog->by_symbol,
			  (uint64_t)catalog->modules[module].same_as << 32 |
				  number,
			  (uintptr_t)symbol);
}
