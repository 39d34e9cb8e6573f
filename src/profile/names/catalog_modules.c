#include "profile/names/catalog_modules.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/support/memory.h"
#include "profile/support/progress.h"

uint32_t swz_catalog_add_module(struct swz_catalog *catalog,
				const struct swz_profile_module *module,
				uint64_t profiled_ns)
{
	const char *path = swz_intern(&catalog->strings, module->path);
	size_t size = module->record.build_id_bytes;
	struct swz_catalog_module *found;
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		found = &catalog->modules[i];
		if (found->path == path && found->build_id_bytes == size &&
		    memcmp(found->build_id, module->record.build_id, size) ==
			    0) {
			if (profiled_ns < found->profiled_ns)
				found->profiled_ns = profiled_ns;
			return (uint32_t)i;
		}
	}
	swz_grow(&catalog->modules, &catalog->module_capacity,
		 catalog->module_count, sizeof(*catalog->modules));
	found = &catalog->modules[catalog->module_count];
	*found = (struct swz_catalog_module){.path = path,
					     .build_id_bytes = size,
					     .same_as = (uint32_t)i,
					     .profiled_ns = profiled_ns};
	memcpy(found->build_id, module->record.build_id, size);
	return (uint32_t)catalog->module_count++;
}

static void warn_no_symbols(const struct swz_catalog *catalog,
			    const struct swz_catalog_module *module,
			    enum swz_status status)
{
	const char *reason = "cannot be read";

	if (catalog->options.quiet)
		return;
	if (status == SWZ_E_UNSUPPORTED)
		reason = "has changed since it was profiled (other build-id)";
	else if (status == SWZ_E_FORMAT)
		reason = "is not an ELF file";
	swz_progress_clear();
	fprintf(stderr, "swizzle: %s %s; its functions are shown by address\n",
		module->path, reason);
}

/* Of a file without a build-id only its time says that it is another one. (It
 * says so, too, of one that was copied.) */
static void warn_changed(const struct swz_catalog *catalog,
			 const struct swz_catalog_module *module)
{
	struct stat info;
	uint64_t changed_ns;

	if (catalog->options.quiet || module->build_id_bytes ||
	    stat(module->path, &info) != 0 || info.st_mtim.tv_sec < 0)
		return;
	changed_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
		     (uint64_t)info.st_mtim.tv_nsec;
	if (changed_ns <= module->profiled_ns)
		return;
	swz_progress_clear();
	fprintf(stderr,
		"swizzle: %s has no build-id and is newer than the profile; "
		"names in it may be wrong\n",
		module->path);
}

struct swz_symbols *swz_catalog_symbols(struct swz_catalog *catalog,
					uint32_t index)
{
	struct swz_catalog_module *module;
	enum swz_status status;

	if (index == SWZ_INDEX_NONE || !catalog->options.symbols)
		return NULL;
	module = &catalog->modules[index];
	if (module->tried)
		return module->symbols;
	module->tried = true;
	/* the vdso has no file */
	if (module->path[0] != '/')
		return NULL;
	status = swz_symbols_open(module->path, module->build_id,
				  module->build_id_bytes, &module->symbols);
	if (status != SWZ_OK)
		warn_no_symbols(catalog, module, status);
	else
		warn_changed(catalog, module);
	return module->symbols;
}

struct swz_source swz_catalog_line(struct swz_catalog *catalog, uint32_t index,
				   struct swz_symbols *symbols,
				   uint64_t address)
{
	struct swz_catalog_module *module = &catalog->modules[index];
	struct swz_source source = swz_symbols_line(symbols, address);

	if (module->lines_tried)
		return source;
	module->lines_tried = true;
	if (swz_symbols_lack_sections(symbols) && !catalog->options.quiet) {
		swz_progress_clear();
		fprintf(stderr,
			"swizzle: the debug information of %s cannot be "
			"decompressed; source lines are missing\n",
			module->path);
	}
	return source;
}
