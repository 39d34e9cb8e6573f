/* Names and lines by elfutils' libdwfl, which knows where separate debug
 * information may lie. It is asked once per module for all symbols, which are
 * kept sorted, one per address. */

#include "profile/names/symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shown_name.h"
#include "profile/support/memory.h"

struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *file; /* the source file's name, of a static function;
			   * NULL: not known */
	int rank;         /* the lower, the better a name */
	uint32_t first;   /* where all names of this address begin */
};

struct swz_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symbol *symbols;
	size_t count;
	const char **names; /* of all symbols, by address */
	size_t name_count;
	unsigned languages;
	uint32_t *by_name; /* of symbols; NULL: nobody has asked for it */
	struct swz_debug_info *debug_info;
};

/* ---- opening ---- */

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static enum swz_status report(struct swz_symbols *symbols, const char *path,
			      const uint8_t *build_id, size_t build_id_bytes)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	int fd = open_regular(path);
	const void *found;
	GElf_Addr bias;
	ssize_t size;
	Elf *elf;

	if (fd < 0)
		return SWZ_E_NOTFOUND;
	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl) {
		close(fd);
		return SWZ_E_NOMEM;
	}
	dwfl_report_begin(symbols->dwfl);
	symbols->module = dwfl_report_elf(symbols->dwfl, path, path, fd, 0,
					  true);
	if (!symbols->module) {
		close(fd);
		return SWZ_E_FORMAT;
	}
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	elf = dwfl_module_getelf(symbols->module, &bias);
	if (!elf)
		return SWZ_E_FORMAT;
	if (!build_id_bytes)
		return SWZ_OK;
	size = dwelf_elf_gnu_build_id(elf, &found);
	if (size < 0 || (size_t)size != build_id_bytes ||
	    memcmp(found, build_id, build_id_bytes) != 0)
		return SWZ_E_UNSUPPORTED;
	return SWZ_OK;
}

static void end_dwfl(struct swz_symbols *symbols)
{
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	symbols->dwfl = NULL;
	symbols->module = NULL;
}

/* The module is gone or replaced: its debug file may still be there. */
static enum swz_status report_debug_file(struct swz_symbols *symbols,
					 const uint8_t *build_id,
					 size_t build_id_bytes)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	size_t length = strlen(path);
	size_t i;

	if (build_id_bytes < 2 || build_id_bytes > 32)
		return SWZ_E_NOTFOUND;
	for (i = 0; i < build_id_bytes; i++) {
		path[length++] = "0123456789abcdef"[build_id[i] >> 4];
		path[length++] = "0123456789abcdef"[build_id[i] & 15];
		if (i == 0)
			path[length++] = '/';
	}
	memcpy(path + length, ".debug", sizeof(".debug"));
	return report(symbols, path, build_id, build_id_bytes);
}

/* ---- symbols ---- */

static int rank(const GElf_Sym *symbol, const char *name)
{
	int binding = GELF_ST_BIND(symbol->st_info);
	int value = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
	int underscores = 0;

	/* of malloc and __libc_malloc the first is what people call it */
	while (underscores < 3 && name[underscores] == '_')
		underscores++;
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		value += 16;
	return value * 4 + underscores;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void load_symbols(struct swz_symbols *symbols)
{
	int total = dwfl_module_getsymtab(symbols->module);
	const char *file = NULL;
	size_t kept = 0;
	size_t i;
	int at;

	if (total <= 0)
		return;
	symbols->symbols = swz_allocate((size_t)total, sizeof(struct symbol));
	for (at = 0; at < total; at++) {
		struct symbol *symbol = &symbols->symbols[symbols->count];
		GElf_Addr address;
		GElf_Sym info;
		const char *name = dwfl_module_getsym_info(
			symbols->module, at, &info, &address, NULL, NULL, NULL);
		int type = name ? GELF_ST_TYPE(info.st_info) : STT_SECTION;

		if (name)
			symbols->languages |= swz_languages_of(name);
		/* the local symbols of a source file come after it */
		if (type == STT_FILE)
			file = name[0] ? name : NULL;
		if ((type != STT_FUNC && type != STT_GNU_IFUNC &&
		     type != STT_NOTYPE) ||
		    info.st_shndx == SHN_UNDEF || info.st_shndx == SHN_ABS ||
		    name[0] == '\0')
			continue;
		*symbol = (struct symbol){
			.address = address,
			.size = info.st_size,
			.name = name,
			.file = GELF_ST_BIND(info.st_info) == STB_LOCAL ? file
									: NULL,
			.rank = rank(&info, name)};
		symbols->count++;
	}
	if (symbols->count > 1)
		qsort(symbols->symbols, symbols->count, sizeof(struct symbol),
		      compare_symbols);
	symbols->names = swz_allocate(symbols->count, sizeof(*symbols->names));
	symbols->name_count = symbols->count;
	for (i = 0; i < symbols->count; i++) {
		struct symbol *last = kept ? &symbols->symbols[kept - 1] : NULL;

		symbols->names[i] = symbols->symbols[i].name;
		symbols->symbols[i].first = (uint32_t)i;
		if (!last || last->address != symbols->symbols[i].address)
			symbols->symbols[kept++] = symbols->symbols[i];
		else if (last->size < symbols->symbols[i].size)
			last->size = symbols->symbols[i].size;
	}
	symbols->count = kept;
}

enum swz_status swz_symbols_open(const char *path, const uint8_t *build_id,
				 size_t build_id_bytes,
				 struct swz_symbols **out)
{
	struct swz_symbols *symbols = swz_allocate(1, sizeof(*symbols));
	enum swz_status status;

	*out = NULL;
	errno = 0;
	status = report(symbols, path, build_id, build_id_bytes);
	swz_check_memory();
	if (status != SWZ_OK) {
		end_dwfl(symbols);
		if (report_debug_file(symbols, build_id, build_id_bytes) ==
		    SWZ_OK)
			status = SWZ_OK;
		swz_check_memory();
	}
	if (status != SWZ_OK) {
		swz_symbols_close(symbols);
		return status;
	}
	errno = 0;
	load_symbols(symbols);
	swz_check_memory();
	symbols->debug_info = swz_debug_info_open(symbols->module);
	*out = symbols;
	return SWZ_OK;
}

void swz_symbols_close(struct swz_symbols *symbols)
{
	if (!symbols)
		return;
	swz_debug_info_close(symbols->debug_info);
	free(symbols->symbols);
	free(symbols->by_name);
	free(symbols->names);
	end_dwfl(symbols);
	free(symbols);
}

/* The last symbol at ADDRESS or below it, or NULL. */
static const struct symbol *symbol_before(const struct swz_symbols *symbols,
					  uint64_t address)
{
	size_t low = 0;
	size_t high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &symbols->symbols[low - 1] : NULL;
}

const char *swz_symbols_name(struct swz_symbols *symbols, uint64_t address,
			     uint64_t *offset)
{
	const struct symbol *symbol = symbol_before(symbols, address);

	if (!symbol)
		return NULL;
	*offset = address - symbol->address;
	if (*offset && *offset >= symbol->size)
		return NULL;
	return symbol->name;
}

const char *const *swz_symbols_names(const struct swz_symbols *symbols,
				     uint64_t address, size_t *count)
{
	const struct symbol *symbol = symbol_before(symbols, address);
	const struct symbol *end = symbols->symbols + symbols->count;

	*count = 0;
	if (!symbol || symbol->address != address)
		return NULL;
	*count = (symbol + 1 < end ? symbol[1].first : symbols->name_count) -
		 symbol->first;
	return symbols->names + symbol->first;
}

unsigned swz_symbols_languages(const struct swz_symbols *symbols)
{
	return symbols->languages;
}

char *swz_symbol_without_version(const char *name)
{
	char *copy = swz_duplicate(name);
	char *at = strchr(copy, '@');

	if (at && at != copy)
		*at = '\0';
	return copy;
}

/* By name, source file and address. */
static int compare_names(const struct symbol *a, const struct symbol *b)
{
	int order = strcmp(a->name, b->name);

	if (!order && a->file != b->file)
		order = !a->file ? -1 : !b->file ? 1 : strcmp(a->file, b->file);
	return order;
}

static int compare_by_name(const void *left, const void *right, void *argument)
{
	const struct symbol *symbols = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_names(&symbols[a], &symbols[b]);

	return order ? order : a < b ? -1 : a > b;
}

static void sort_by_name(struct swz_symbols *symbols)
{
	size_t i;

	symbols->by_name = swz_allocate(symbols->count,
					sizeof(*symbols->by_name));
	for (i = 0; i < symbols->count; i++)
		symbols->by_name[i] = (uint32_t)i;
	if (symbols->count > 1)
		qsort_r(symbols->by_name, symbols->count,
			sizeof(*symbols->by_name), compare_by_name,
			symbols->symbols);
}

uint32_t swz_symbols_number(struct swz_symbols *symbols, uint64_t address,
			    const char **file)
{
	const struct symbol *symbol = symbol_before(symbols, address);
	size_t low = 0, high = symbols->count;
	uint32_t number = 0;

	*file = NULL;
	if (!symbol)
		return 0;
	*file = symbol->file;
	if (!symbols->by_name)
		sort_by_name(symbols);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&symbols->symbols[symbols->by_name[middle]],
				  symbol) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (&symbols->symbols[symbols->by_name[low + number]] != symbol)
		number++;
	return number;
}

struct swz_source swz_symbols_line(struct swz_symbols *symbols,
				   uint64_t address)
{
	return swz_debug_info_line(symbols->debug_info, address);
}

struct swz_inline swz_symbols_inline(struct swz_symbols *symbols,
				     uint64_t address)
{
	return swz_debug_info_inline(symbols->debug_info, address);
}

bool swz_symbols_lack_sections(const struct swz_symbols *symbols)
{
	return swz_debug_info_lacks_sections(symbols->debug_info);
}
