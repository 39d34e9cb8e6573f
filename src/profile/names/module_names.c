/* Short names are the last parts of paths. Where these are not enough to tell
 * modules apart the whole paths are shown, and where those are the same (a
 * program that was built anew) the build-id's beginning. The versions of a
 * module in a comparison are one. */

#include "profile/names/module_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

enum { SHOWN_ID_BYTES = 4 };

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
		else if (strcmp(swz_base_name(other->path),
				swz_base_name(module->path)) == 0)
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

void swz_catalog_name_modules(struct swz_catalog *catalog)
{
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		struct swz_catalog_module *module = &catalog->modules[i];
		struct clash clash = clash_of(catalog, i);

		module->whole = module->path;
		module->name = clash.name ? module->path
					  : swz_intern(&catalog->strings,
						       swz_base_name(
							       module->path));
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
