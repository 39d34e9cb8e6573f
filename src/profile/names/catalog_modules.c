/* A module is known by its build-id: the same file may be at several paths, on
 * several machines or in several containers. That of another size is another
 * file, as programs can be linked with a build-id that somebody made up. What
 * has no build-id is known by its path. */

#include "profile/names/catalog_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/support/memory.h"
#include "profile/support/progress.h"

/* One of a file's copies may have been stripped, but not so many of them are
 * looked at: each may be a question to servers. */
enum { MOST_TRIED = 8 };

static bool has_path(const struct swz_catalog_module *module, const char *path)
{
	size_t i;

	for (i = 0; i < module->path_count; i++)
		if (module->paths[i] == path)
			return true;
	return false;
}

/* In whole pages: what was seen from outside may end with a mapping, not with
 * the last segment. */
static uint64_t pages_of(const struct swz_module_record *record)
{
	return (record->end - record->start + 4095) / 4096;
}

static bool is_module(const struct swz_catalog_module *known,
		      const struct swz_profile_module *module, const char *path)
{
	const struct swz_module_record *record = &module->record;

	if (known->build_id_bytes != record->build_id_bytes ||
	    memcmp(known->build_id, record->build_id, record->build_id_bytes) !=
		    0)
		return false;
	return has_path(known, path) ||
	       (record->build_id_bytes &&
		known->mapped_pages == pages_of(record));
}

static void add_path(struct swz_catalog_module *module, const char *path)
{
	if (has_path(module, path))
		return;
	swz_grow(&module->paths, &module->path_capacity, module->path_count,
		 sizeof(*module->paths));
	module->paths[module->path_count++] = path;
}

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
		if (is_module(found, module, path)) {
			add_path(found, path);
			if (profiled_ns < found->profiled_ns)
				found->profiled_ns = profiled_ns;
			return (uint32_t)i;
		}
	}
	swz_grow(&catalog->modules, &catalog->module_capacity,
		 catalog->module_count, sizeof(*catalog->modules));
	found = &catalog->modules[catalog->module_count];
	*found = (struct swz_catalog_module){
		.path = path,
		.name = path,
		.whole = path,
		.mapped_pages = pages_of(&module->record),
		.lies_in_no_file = module->record.start >= SWZ_NO_FILE_START,
		.build_id_bytes = size,
		.same_as = (uint32_t)i,
		.profiled_ns = profiled_ns};
	memcpy(found->build_id, module->record.build_id, size);
	add_path(found, path);
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
static bool has_changed(const struct swz_catalog *catalog,
			const struct swz_catalog_module *module)
{
	uint64_t changed_ns = 0;
	struct stat info;
	char *path;

	if (module->build_id_bytes)
		return false;
	path = swz_debug_files_module(catalog->options.files, module->path);
	if (stat(path, &info) == 0 && info.st_mtim.tv_sec >= 0)
		changed_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
			     (uint64_t)info.st_mtim.tv_nsec;
	free(path);
	return changed_ns > module->profiled_ns;
}

static void warn_changed(const struct swz_catalog *catalog,
			 const struct swz_catalog_module *module)
{
	if (catalog->options.quiet)
		return;
	swz_progress_clear();
	fprintf(stderr,
		"swizzle: %s has no build-id and is newer than the profile; "
		"names in it may be wrong\n",
		module->path);
}

void swz_catalog_add_embedded(struct swz_catalog *catalog,
			      const struct swz_profile *profile,
			      const uint32_t *modules)
{
	size_t i;

	for (i = 0; i < profile->symbol_count; i++) {
		const struct swz_profile_symbol *symbol = &profile->symbols[i];

		swz_embedded_add_symbol(
			&catalog->modules[modules[symbol->module]].embedded,
			symbol);
	}
	for (i = 0; i < profile->line_count; i++) {
		const struct swz_profile_line *line = &profile->lines[i];

		swz_embedded_add_line(
			&catalog->modules[modules[line->module]].embedded,
			line);
	}
}

/* From the first of the paths where the file is, or rather the first where it
 * has a symbol table. Returns what is wrong with the first one, if none is of
 * use. */
static enum swz_status open_symbols(struct swz_catalog_module *module,
				    struct swz_symbols_source *source)
{
	enum swz_status first = SWZ_E_NOTFOUND;
	size_t i;

	for (i = 0; i < module->path_count && i < MOST_TRIED; i++) {
		struct swz_symbols *symbols;
		enum swz_status status;

		source->path = module->paths[i];
		status = swz_symbols_open(source, &symbols);
		if (i == 0)
			first = status;
		if (status != SWZ_OK)
			continue;
		if (module->symbols && swz_symbols_are_stripped(symbols)) {
			swz_symbols_close(symbols);
			continue;
		}
		swz_symbols_close(module->symbols);
		module->symbols = symbols;
		if (!swz_symbols_are_stripped(symbols))
			break;
	}
	return module->symbols ? SWZ_OK : first;
}

struct swz_symbols *swz_catalog_symbols(struct swz_catalog *catalog,
					uint32_t index)
{
	struct swz_catalog_module *module;
	struct swz_symbols_source source;
	enum swz_status status;
	bool has_file;

	if (index == SWZ_INDEX_NONE || !catalog->options.symbols)
		return NULL;
	module = &catalog->modules[index];
	if (module->tried)
		return module->symbols;
	module->tried = true;
	/* the vdso has no file, nor has code that was made at run time */
	has_file = module->path[0] == '/';
	if (!has_file && swz_embedded_is_empty(&module->embedded))
		return NULL;
	module->doubtful = has_file && !catalog->options.only_embedded &&
			   has_changed(catalog, module);
	source = (struct swz_symbols_source){
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes,
		.files = catalog->options.files,
		.embedded = &module->embedded,
		.only_embedded = !has_file || catalog->options.only_embedded ||
				 (module->doubtful &&
				  !swz_embedded_is_empty(&module->embedded)),
	};
	status = open_symbols(module, &source);
	if (status != SWZ_OK)
		warn_no_symbols(catalog, module, status);
	else if (module->doubtful && !source.only_embedded)
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
			"decompressed; source lines are missing. objcopy "
			"--decompress-debug-sections makes a file that can be "
			"read (--debug-dir)\n",
			module->path);
	}
	return source;
}
