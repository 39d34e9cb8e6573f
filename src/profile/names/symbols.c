#include "profile/names/symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/basics.h"
#include "base/qualified_name.h"
#include "image/elf_view.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"
#include "util/memory.h"

/* --- names that profiles bring along ------------------------------------- */

/* Sorted when the first question comes: profiles are added before that. Of what
 * several profiles say the first counts. */

void swz_embedded_free(struct swz_embedded *embedded)
{
	free(embedded->symbols);
	free(embedded->lines);
	free(embedded->names);
	*embedded = (struct swz_embedded){0};
}

void swz_embedded_add_symbol(struct swz_embedded *embedded,
			     const struct swz_profile_symbol *symbol)
{
	swz_grow(&embedded->symbols, &embedded->symbol_capacity,
		 embedded->symbol_count, sizeof(*symbol));
	embedded->symbols[embedded->symbol_count] = *symbol;
	/* their order is that of the names at one address; see compare() */
	embedded->symbols[embedded->symbol_count].module =
		(uint32_t)embedded->symbol_count;
	embedded->symbol_count++;
	embedded->languages |= symbol->languages;
	embedded->sorted = false;
}

void swz_embedded_add_line(struct swz_embedded *embedded,
			   const struct swz_profile_line *line)
{
	swz_grow(&embedded->lines, &embedded->line_capacity,
		 embedded->line_count, sizeof(*line));
	embedded->lines[embedded->line_count] = *line;
	embedded->lines[embedded->line_count].module =
		(uint32_t)embedded->line_count;
	embedded->line_count++;
	embedded->sorted = false;
}

bool swz_embedded_is_empty(const struct swz_embedded *embedded)
{
	return !embedded->symbol_count && !embedded->line_count;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_embedded(const void *left, const void *right)
{
	const struct swz_profile_symbol *a = left, *b = right;
	int order = compare(a->address, b->address);

	return order ? order : compare(a->module, b->module);
}

static int compare_lines(const void *left, const void *right)
{
	const struct swz_profile_line *a = left, *b = right;
	int order = compare(a->address, b->address);

	return order ? order : compare(a->module, b->module);
}

/* True if a symbol before the last of COUNT, at its address, has its name, too.
 * An address has few symbols, unless somebody forged them: then only the last
 * ones are looked at. */
static bool is_repeated(const struct swz_profile_symbol *symbols, size_t count,
			const struct swz_profile_symbol *symbol)
{
	size_t looked = 0;

	while (count-- && symbols[count].address == symbol->address &&
	       looked++ < 64)
		if (strcmp(symbols[count].name, symbol->name) == 0)
			return true;
	return false;
}

static void sort(struct swz_embedded *embedded)
{
	size_t kept = 0, i;

	embedded->sorted = true;
	if (embedded->symbol_count > 1)
		qsort(embedded->symbols, embedded->symbol_count,
		      sizeof(*embedded->symbols), compare_embedded);
	for (i = 0; i < embedded->symbol_count; i++)
		if (!is_repeated(embedded->symbols, kept,
				 &embedded->symbols[i]))
			embedded->symbols[kept++] = embedded->symbols[i];
	embedded->symbol_count = kept;
	free(embedded->names);
	embedded->names = swz_allocate(kept, sizeof(*embedded->names));
	for (i = 0; i < kept; i++)
		embedded->names[i] = embedded->symbols[i].name;
	if (embedded->line_count > 1)
		qsort(embedded->lines, embedded->line_count,
		      sizeof(*embedded->lines), compare_lines);
}

/* How many symbols begin at lower addresses. */
static size_t symbols_below(struct swz_embedded *embedded, uint64_t address)
{
	size_t low;

	if (!embedded->sorted)
		sort(embedded);
	SWZ_PARTITION(low, embedded->symbol_count,
		      embedded->symbols[low].address < address);
	return low;
}

/* The symbol that ADDRESS lies in, or NULL. */
static const struct swz_profile_symbol *embedded_symbol(
	struct swz_embedded *embedded, uint64_t address)
{
	size_t at = symbols_below(embedded, address);
	const struct swz_profile_symbol *symbol;

	if (at < embedded->symbol_count &&
	    embedded->symbols[at].address == address)
		return &embedded->symbols[at];
	if (!at)
		return NULL;
	/* the first of those at the address before */
	at = symbols_below(embedded, embedded->symbols[at - 1].address);
	symbol = &embedded->symbols[at];
	return address - symbol->address < symbol->size ? symbol : NULL;
}

const char *const *swz_embedded_names(struct swz_embedded *embedded,
				      uint64_t address, size_t *count)
{
	size_t first = symbols_below(embedded, address), end = first;

	while (end < embedded->symbol_count &&
	       embedded->symbols[end].address == address)
		end++;
	*count = end - first;
	return *count ? embedded->names + first : NULL;
}

const struct swz_profile_line *swz_embedded_line(struct swz_embedded *embedded,
						 uint64_t address)
{
	size_t low;

	if (!embedded->sorted)
		sort(embedded);
	SWZ_PARTITION(low, embedded->line_count,
		      embedded->lines[low].address < address);
	return low < embedded->line_count &&
			       embedded->lines[low].address == address
		       ? &embedded->lines[low]
		       : NULL;
}

/* --- demangling with bounded memory -------------------------------------- */

/* libiberty's memory is bounded here: a symbol may stand for a name that is
 * larger than any memory. Where it comes to that the name stays mangled, and
 * the few blocks that libiberty holds then are lost. */

#define MOST_BYTES ((size_t)4 * SWZ_SHOWN_NAME_BYTES)

void *xmalloc(size_t bytes);
void *xrealloc(void *block, size_t bytes);

/* In place of libiberty's own, which end the program. */
void *xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

void *xrealloc(void *block, size_t bytes)
{
	if (bytes > MOST_BYTES)
		swz_shown_name_give_up();
	return swz_reallocate(block, bytes ? bytes : 1, 1);
}

static bool is_plt(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SWZ_PLT_SUFFIX);

	return length > suffix &&
	       strcmp(name + length - suffix, SWZ_PLT_SUFFIX) == 0;
}

char *swz_demangle(const char *name, unsigned languages,
		   enum swz_demangle style)
{
	static char shown[SWZ_SHOWN_NAME_BYTES];

	if (is_plt(name)) {
		char *plain = swz_duplicate(name), *demangled, *whole;

		plain[strlen(name) - strlen(SWZ_PLT_SUFFIX)] = '\0';
		demangled = swz_demangle(plain, languages, style);
		whole = swz_print("%s" SWZ_PLT_SUFFIX, demangled);
		free(demangled);
		free(plain);
		return whole;
	}
	if (style != SWZ_DEMANGLE_NO &&
	    swz_shown_name(name, languages, style == SWZ_DEMANGLE_FULL, shown,
			   sizeof(shown)))
		return swz_duplicate(shown);
	return swz_duplicate(name);
}

/* --- symbols and lines of a module --------------------------------------- */

/* Names and lines by elfutils' libdwfl, which knows where separate debug
 * information may lie. It is asked once per module for all symbols, which are
 * kept sorted, one per address. */

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
	struct swz_symbols_source source;
	struct swz_embedded *embedded; /* NULL: none */
	Dwfl_Callbacks callbacks;
	char *usual; /* for them */
	Dwfl *dwfl;  /* NULL: there is no file */
	Dwfl_Module *module;
	struct symbol *symbols;
	size_t count;
	const char **names; /* of all symbols, by address */
	size_t name_count;
	char **plt_names; /* those that no table of symbols has */
	size_t plt_name_count;
	unsigned languages;
	bool has_locals;   /* functions that only a symbol table names */
	uint32_t *by_name; /* of symbols; NULL: nobody has asked for it */
	struct {
		uint64_t start, end; /* 0: none was asked for */
		const uint8_t *bytes;
	} code; /* the section that was looked at last */
	struct swz_debug_info *debug_info;
};

/* ---- code ---- */

/* In a file of debug information alone sections have no bytes. */
static bool find_code(struct swz_symbols *symbols, uint64_t address)
{
	Elf_Scn *section = NULL;
	const char *file;
	GElf_Addr bias;
	GElf_Shdr at;
	size_t size;
	Elf *elf;

	if (address >= symbols->code.start && address < symbols->code.end)
		return true;
	elf = symbols->module ? dwfl_module_getelf(symbols->module, &bias)
			      : NULL;
	file = elf ? elf_rawfile(elf, &size) : NULL;
	while (file && (section = elf_nextscn(elf, section)) != NULL) {
		if (!gelf_getshdr(section, &at) || at.sh_type != SHT_PROGBITS ||
		    !(at.sh_flags & SHF_EXECINSTR) || address < at.sh_addr ||
		    address - at.sh_addr >= at.sh_size || at.sh_offset > size ||
		    at.sh_size > size - at.sh_offset)
			continue;
		symbols->code.start = at.sh_addr;
		symbols->code.end = at.sh_addr + at.sh_size;
		symbols->code.bytes = (const uint8_t *)file + at.sh_offset;
		return symbols->code.end > symbols->code.start;
	}
	return false;
}

bool swz_symbols_calls(struct swz_symbols *symbols, uint64_t return_address,
		       uint64_t *target)
{
	const uint8_t *call;
	int32_t distance;

	/* e8 and four bytes, all of which lie in the section */
	if (return_address < 5 || !find_code(symbols, return_address - 5) ||
	    return_address > symbols->code.end)
		return false;
	call = symbols->code.bytes + (return_address - 5 - symbols->code.start);
	memcpy(&distance, call + 1, sizeof(distance));
	*target = return_address + (uint64_t)(int64_t)distance;
	return call[0] == 0xe8;
}

/* ---- opening ---- */

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

/* As dwfl_standard_find_debuginfo(), but first where we were told to look. That
 * comes last to the servers, which take their time. */
static int find_debug_file(Dwfl_Module *module, void **userdata,
			   const char *name, Dwarf_Addr base,
			   const char *file_name, const char *debuglink_file,
			   GElf_Word debuglink_crc, char **found)
{
	const struct swz_symbols_source *source = *userdata;
	int fd = swz_debug_files_find(source->files, source->path,
				      source->build_id, source->build_id_bytes,
				      found);

	if (fd >= 0)
		return fd;
	/* libdw 0.188 loads libcurl and 24 other libraries before it sees that
	 * there are no servers, which takes 30 ms. */
	if (!debuglink_file && source->build_id_bytes && !has_servers())
		return swz_debug_files_find_usual(
			source->path, source->build_id, source->build_id_bytes,
			found);
	return dwfl_standard_find_debuginfo(module, userdata, name, base,
					    file_name, debuglink_file,
					    debuglink_crc, found);
}

/* Takes FD over, which is open for PATH. */
static enum swz_status report(struct swz_symbols *symbols, const char *path,
			      int fd)
{
	const struct swz_symbols_source *source = &symbols->source;
	const void *found;
	void **userdata;
	GElf_Addr bias;
	ssize_t size;
	Elf *elf;

	symbols->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &symbols->usual,
	};
	symbols->dwfl = dwfl_begin(&symbols->callbacks);
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
	dwfl_module_info(symbols->module, &userdata, NULL, NULL, NULL, NULL,
			 NULL, NULL);
	*userdata = &symbols->source;
	elf = dwfl_module_getelf(symbols->module, &bias);
	if (!elf)
		return SWZ_E_FORMAT;
	if (!source->build_id_bytes)
		return SWZ_OK;
	size = dwelf_elf_gnu_build_id(elf, &found);
	if (size < 0 || (size_t)size != source->build_id_bytes ||
	    memcmp(found, source->build_id, source->build_id_bytes) != 0)
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

static enum swz_status report_path(struct swz_symbols *symbols,
				   const char *path)
{
	int fd = swz_debug_files_open(path);
	enum swz_status status = fd < 0 ? SWZ_E_NOTFOUND
					: report(symbols, path, fd);

	if (status != SWZ_OK)
		end_dwfl(symbols);
	return status;
}

/* A module that is not below the root may be at its own path, if that is known
 * to be the same file. */
static enum swz_status report_module(struct swz_symbols *symbols)
{
	const struct swz_symbols_source *source = &symbols->source;
	char *path = swz_debug_files_module(source->files, source->path);
	enum swz_status status = report_path(symbols, path);

	free(path);
	if (status != SWZ_OK && source->files->root && source->build_id_bytes &&
	    report_path(symbols, source->path) == SWZ_OK)
		status = SWZ_OK;
	return status;
}

/* The module is gone or replaced: its debug file may still be there. */
static enum swz_status report_debug_file(struct swz_symbols *symbols)
{
	const struct swz_symbols_source *source = &symbols->source;
	enum swz_status status;
	char *path;
	int fd = swz_debug_files_find(source->files, source->path,
				      source->build_id, source->build_id_bytes,
				      &path);

	if (fd < 0)
		fd = swz_debug_files_find_usual(source->path, source->build_id,
						source->build_id_bytes, &path);
	if (fd < 0)
		return SWZ_E_NOTFOUND;
	status = report(symbols, path, fd);
	free(path);
	return status;
}

static enum swz_status open_files(struct swz_symbols *symbols)
{
	enum swz_status status;

	errno = 0;
	status = report_module(symbols);
	swz_check_memory();
	if (status == SWZ_OK)
		return status;
	if (report_debug_file(symbols) == SWZ_OK)
		status = SWZ_OK;
	else
		end_dwfl(symbols);
	swz_check_memory();
	return status;
}

/* ---- symbols ---- */

static int rank(const GElf_Sym *symbol, const char *name)
{
	int binding = GELF_ST_BIND(symbol->st_info);
	int value = binding == STB_GLOBAL || binding == STB_WEAK ? 0 : 2;
	int underscores = 0;

	/* People say malloc, not __libc_malloc, and puts, which is weak, not
	 * _IO_puts, which is global. */
	while (underscores < 3 && name[underscores] == '_')
		underscores++;
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		value += 16;
	return (value * 4 + underscores) * 2 + (binding == STB_WEAK);
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

static int compare_addresses(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* As objdump calls an entry; one for the program's own function of several
 * kinds has that function's name, if it has a symbol. The head of a table has
 * the name of its section. */
static char *name_of_entry(const struct swz_symbols *symbols,
			   struct swz_plt_names *slots,
			   const struct swz_plt_entry *entry,
			   const char *section)
{
	struct symbol key = {0}, *found = NULL;
	const char *name = entry->slot ? swz_plt_name(slots, entry->slot,
						      &key.address)
				       : NULL;

	if (key.address && symbols->count)
		found = bsearch(&key, symbols->symbols, symbols->count,
				sizeof(*found), compare_addresses);
	if (found)
		name = found->name;
	if (name && *name)
		return swz_print("%s" SWZ_PLT_SUFFIX, name);
	if (key.address)
		return swz_print("*ABS*+0x%" PRIx64 SWZ_PLT_SUFFIX,
				 key.address);
	return swz_duplicate(section);
}

/* Adds a symbol for each entry of the PLT, of which at most the linker has made
 * one ("strcmp$plt", mold). Those that there are have been sorted. */
static void add_plt(struct swz_symbols *symbols)
{
	size_t size, symbol_capacity = symbols->count, name_capacity = 0;
	GElf_Addr bias;
	Elf *file = dwfl_module_getelf(symbols->module, &bias);
	const void *bytes = file ? elf_rawfile(file, &size) : NULL;
	size_t sorted = symbols->count, count = sorted;
	struct swz_plt_names slots;
	struct swz_plt_entry entry;
	struct swz_plt plt;
	struct swz_elf elf;

	if (!bytes ||
	    swz_elf_open(&elf, (struct swz_bytes){bytes, size}) != SWZ_OK)
		return;
	swz_plt_names_open(&slots, &elf);
	swz_plt_begin(&plt, &elf);
	while (swz_plt_next(&plt, &entry)) {
		const char *section = (const char *)elf.section_names.data +
				      plt.section->sh_name;
		char *name = name_of_entry(symbols, &slots, &entry, section);

		swz_grow(&symbols->plt_names, &name_capacity,
			 symbols->plt_name_count, sizeof(*symbols->plt_names));
		symbols->plt_names[symbols->plt_name_count++] = name;
		swz_grow(&symbols->symbols, &symbol_capacity, count,
			 sizeof(*symbols->symbols));
		symbols->symbols[count++] = (struct symbol){
			.address = entry.start,
			.size = entry.end - entry.start,
			.name = name,
			.rank = -1};
	}
	symbols->count = count;
	if (count > sorted)
		qsort(symbols->symbols, count, sizeof(struct symbol),
		      compare_symbols);
}

static void load_symbols(struct swz_symbols *symbols)
{
	int total = dwfl_module_getsymtab(symbols->module);
	const char *file = NULL;
	size_t kept = 0;
	size_t i;
	int at;

	if (total < 0)
		total = 0;
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
		symbols->has_locals |= GELF_ST_BIND(info.st_info) == STB_LOCAL;
		symbols->count++;
	}
	if (symbols->count > 1)
		qsort(symbols->symbols, symbols->count, sizeof(struct symbol),
		      compare_symbols);
	add_plt(symbols);
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

enum swz_status swz_symbols_open(const struct swz_symbols_source *source,
				 struct swz_symbols **out)
{
	struct swz_symbols *symbols = swz_allocate(1, sizeof(*symbols));
	enum swz_status status = SWZ_E_NOTFOUND;

	*out = NULL;
	symbols->source = *source;
	symbols->usual = source->files->usual ? source->files->usual
					      : swz_debug_files_usual.usual;
	if (source->embedded && !swz_embedded_is_empty(source->embedded))
		symbols->embedded = source->embedded;
	if (!source->only_embedded)
		status = open_files(symbols);
	if (status != SWZ_OK && !symbols->embedded) {
		swz_symbols_close(symbols);
		return status;
	}
	if (status == SWZ_OK) {
		errno = 0;
		load_symbols(symbols);
		swz_check_memory();
		symbols->debug_info = swz_debug_info_open(symbols->module);
	}
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
	for (size_t i = 0; i < symbols->plt_name_count; i++)
		free(symbols->plt_names[i]);
	free(symbols->plt_names);
	free(symbols->names);
	end_dwfl(symbols);
	free(symbols);
}

/* The last symbol at ADDRESS or below it, or NULL. */
static const struct symbol *symbol_before(const struct swz_symbols *symbols,
					  uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, symbols->count,
		      symbols->symbols[low].address <= address);
	return low ? &symbols->symbols[low - 1] : NULL;
}

/* The symbol of the file that ADDRESS lies in, or NULL. */
static const struct symbol *symbol_at(const struct swz_symbols *symbols,
				      uint64_t address)
{
	const struct symbol *symbol = symbol_before(symbols, address);

	if (symbol && address != symbol->address &&
	    address - symbol->address >= symbol->size)
		return NULL;
	return symbol;
}

static const struct swz_profile_symbol *embedded_at(
	const struct swz_symbols *symbols, uint64_t address)
{
	return symbols->embedded ? embedded_symbol(symbols->embedded, address)
				 : NULL;
}

const char *swz_symbols_name(struct swz_symbols *symbols, uint64_t address,
			     uint64_t *offset)
{
	const struct symbol *symbol = symbol_at(symbols, address);
	const struct swz_profile_symbol *embedded;

	if (symbol) {
		*offset = address - symbol->address;
		return symbol->name;
	}
	embedded = embedded_at(symbols, address);
	if (!embedded)
		return NULL;
	*offset = address - embedded->address;
	return embedded->name;
}

uint64_t swz_symbols_size(const struct swz_symbols *symbols, uint64_t address)
{
	const struct symbol *symbol = symbol_at(symbols, address);
	const struct swz_profile_symbol *embedded =
		symbol ? NULL : embedded_at(symbols, address);

	return symbol ? symbol->size : embedded ? embedded->size : 0;
}

const char *const *swz_symbols_names(const struct swz_symbols *symbols,
				     uint64_t address, size_t *count)
{
	const struct symbol *symbol = symbol_at(symbols, address);
	const struct symbol *end = symbols->symbols + symbols->count;

	*count = 0;
	if (!symbol && symbols->embedded)
		return swz_embedded_names(symbols->embedded, address, count);
	if (!symbol || symbol->address != address)
		return NULL;
	*count = (symbol + 1 < end ? symbol[1].first : symbols->name_count) -
		 symbol->first;
	return symbols->names + symbol->first;
}

bool swz_symbols_define(struct swz_symbols *symbols, const char *name)
{
	const struct swz_embedded *embedded = symbols->embedded;
	size_t i;

	for (i = 0; i < symbols->name_count; i++)
		if (strcmp(symbols->names[i], name) == 0)
			return true;
	for (i = 0; embedded && i < embedded->symbol_count; i++)
		if (strcmp(embedded->symbols[i].name, name) == 0)
			return true;
	return false;
}

/* From the segment that the address lies in. */
static size_t read_at(Elf *elf, uint64_t address, void *into, size_t size)
{
	size_t file_size, count, i;
	const char *file = elf_rawfile(elf, &file_size);
	GElf_Phdr segment;

	if (!file || elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (i = 0; i < count; i++) {
		uint64_t at;

		if (!gelf_getphdr(elf, (int)i, &segment) ||
		    segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		at = address - segment.p_vaddr;
		if (size > segment.p_filesz - at)
			size = segment.p_filesz - at;
		if (segment.p_offset > file_size ||
		    at > file_size - segment.p_offset ||
		    size > file_size - segment.p_offset - at)
			return 0;
		memcpy(into, file + segment.p_offset + at, size);
		return size;
	}
	return 0;
}

size_t swz_symbols_read(struct swz_symbols *symbols, const char *name,
			void *into, size_t size)
{
	int count = symbols->module ? dwfl_module_getsymtab(symbols->module)
				    : 0;
	GElf_Addr bias, address;
	GElf_Sym symbol;
	const char *found;
	Elf *elf;
	int i;

	for (i = 1; i < count; i++) {
		found = dwfl_module_getsym_info(symbols->module, i, &symbol,
						&address, NULL, NULL, NULL);
		if (!found || symbol.st_shndx == SHN_UNDEF ||
		    strcmp(found, name) != 0)
			continue;
		elf = dwfl_module_getelf(symbols->module, &bias);
		return elf ? read_at(elf, symbol.st_value, into, size) : 0;
	}
	return 0;
}

size_t swz_symbols_code(struct swz_symbols *symbols, uint64_t address,
			void *into, size_t size)
{
	GElf_Addr bias;
	Elf *elf = symbols->module ? dwfl_module_getelf(symbols->module, &bias)
				   : NULL;

	return elf ? read_at(elf, address, into, size) : 0;
}

bool swz_symbols_are_stripped(const struct swz_symbols *symbols)
{
	return !symbols->has_locals;
}

unsigned swz_symbols_languages(const struct swz_symbols *symbols)
{
	return symbols->languages |
	       (symbols->embedded ? symbols->embedded->languages : 0);
}

char *swz_symbol_without_version(const char *name)
{
	char *copy = swz_duplicate(name);
	char *at = strchr(copy, '@');

	if (at && at != copy && !is_plt(name))
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
	const struct symbol *symbol = symbol_at(symbols, address);
	const struct swz_profile_symbol *embedded;
	size_t low;
	uint32_t number = 0;

	*file = NULL;
	if (!symbol) {
		embedded = embedded_at(symbols, address);
		if (embedded)
			*file = embedded->file;
		return embedded ? embedded->number : 0;
	}
	*file = symbol->file;
	if (!symbols->by_name)
		sort_by_name(symbols);
	SWZ_PARTITION(low, symbols->count,
		      compare_names(&symbols->symbols[symbols->by_name[low]],
				    symbol) < 0);
	while (&symbols->symbols[symbols->by_name[low + number]] != symbol)
		number++;
	return number;
}

static struct swz_source line_of_file(struct swz_symbols *symbols,
				      uint64_t address)
{
	if (!symbols->debug_info)
		return (struct swz_source){NULL, 0};
	return swz_debug_info_line(symbols->debug_info, address);
}

static const struct swz_profile_line *embedded_line(
	const struct swz_symbols *symbols, uint64_t address)
{
	return symbols->embedded ? swz_embedded_line(symbols->embedded, address)
				 : NULL;
}

struct swz_source swz_symbols_line(struct swz_symbols *symbols,
				   uint64_t address)
{
	struct swz_source source = line_of_file(symbols, address);
	const struct swz_profile_line *line =
		source.file ? NULL : embedded_line(symbols, address);

	return line ? (struct swz_source){line->file, line->line} : source;
}

struct swz_inline swz_symbols_inline(struct swz_symbols *symbols,
				     uint64_t address)
{
	const struct swz_profile_line *line = embedded_line(symbols, address);

	/* of one place both come from one source */
	if (line && !line_of_file(symbols, address).file)
		return (struct swz_inline){line->inlined, line->outer_line};
	if (!symbols->debug_info)
		return (struct swz_inline){NULL, 0};
	return swz_debug_info_inline(symbols->debug_info, address);
}

bool swz_symbols_lack_sections(const struct swz_symbols *symbols)
{
	return symbols->debug_info &&
	       swz_debug_info_lacks_sections(symbols->debug_info);
}
