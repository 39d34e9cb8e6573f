/* Names and lines by elfutils' libdwfl, which knows where separate debug
 * information may lie. It is asked once per module for all symbols, which are
 * kept sorted, one per address.
 *
 * Compilation units are found by a table of our own, since clang writes no
 * .debug_aranges, which libdw's own look-up depends on. In the same way the
 * functions of a unit are collected when the first address in it is asked
 * for: a walk over a unit's entries for each call site would be quadratic. */

#include "profile/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/memory.h"

#define MAX_DIE_DEPTH 64 /* of namespaces, types and blocks */

struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *file; /* the source file's name, of a static function;
			   * NULL: not known */
	int rank;         /* the lower, the better a name */
};

struct range {
	uint64_t start;
	uint64_t end;
	uint32_t index; /* into units, or into the unit's functions */
};

struct ranges {
	struct range *items;
	size_t count;
	size_t capacity;
};

struct unit {
	Dwarf_Die die;
	bool scanned;
	Dwarf_Die *functions;
	size_t function_count;
	size_t function_capacity;
	struct ranges ranges;
};

struct swz_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symbol *symbols;
	size_t count;
	uint32_t *by_name; /* of symbols; NULL: nobody has asked for it */
	bool dwarf_tried;
	bool lacks_sections;
	Dwarf_Addr bias; /* module address = DWARF address + bias */
	struct unit *units;
	size_t unit_count;
	size_t unit_capacity;
	struct ranges ranges;
	char *file; /* the last answer of swz_symbols_line() */
};

/* Whatever libdw cannot allocate it takes for what is not there. errno is 0
 * before. */
static void check_memory(void)
{
	if (errno == ENOMEM)
		swz_out_of_memory();
}

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
	for (i = 0; i < symbols->count; i++) {
		struct symbol *last = kept ? &symbols->symbols[kept - 1] : NULL;

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
	check_memory();
	if (status != SWZ_OK) {
		end_dwfl(symbols);
		if (report_debug_file(symbols, build_id, build_id_bytes) ==
		    SWZ_OK)
			status = SWZ_OK;
		check_memory();
	}
	if (status != SWZ_OK) {
		swz_symbols_close(symbols);
		return status;
	}
	errno = 0;
	load_symbols(symbols);
	check_memory();
	*out = symbols;
	return SWZ_OK;
}

void swz_symbols_close(struct swz_symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->unit_count; i++) {
		free(symbols->units[i].functions);
		free(symbols->units[i].ranges.items);
	}
	free(symbols->units);
	free(symbols->ranges.items);
	free(symbols->symbols);
	free(symbols->by_name);
	free(symbols->file);
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

/* ---- compilation units ---- */

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->count > 1)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items),
		      compare_ranges);
}

static void add_ranges(struct ranges *ranges, Dwarf_Die *die, uint32_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		swz_grow(&ranges->items, &ranges->capacity, ranges->count,
			 sizeof(*ranges->items));
		ranges->items[ranges->count++] = (struct range){start, end,
								index};
	}
}

/* The index of the range that holds ADDRESS, or UINT32_MAX. */
static uint32_t find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0;
	size_t high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= ranges->items[low - 1].end)
		return UINT32_MAX;
	return ranges->items[low - 1].index;
}

/* libdw goes on without the sections that it could not decompress. */
static bool is_any_compressed(Dwarf *dwarf)
{
	static const char *const names[] = {
		".debug_info",   ".debug_types",    ".debug_abbrev",
		".debug_line",   ".debug_line_str", ".debug_str",
		".debug_ranges", ".debug_rnglists", ".debug_str_offsets",
		".debug_addr",
	};
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	size_t strings, i;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = NULL;

		if (gelf_getshdr(section, &header) &&
		    header.sh_flags & SHF_COMPRESSED)
			name = elf_strptr(elf, strings, header.sh_name);
		for (i = 0; name && i < sizeof(names) / sizeof(*names); i++)
			if (strcmp(name, names[i]) == 0)
				return true;
	}
	return false;
}

static void load_units(struct swz_symbols *symbols)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, skeleton;
	Dwarf *dwarf;
	uint8_t type;

	symbols->dwarf_tried = true;
	dwarf = dwfl_module_getdwarf(symbols->module, &symbols->bias);
	if (!dwarf)
		return;
	symbols->lacks_sections = is_any_compressed(dwarf);
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &skeleton) ==
	       0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		swz_grow(&symbols->units, &symbols->unit_capacity,
			 symbols->unit_count, sizeof(*symbols->units));
		symbols->units[symbols->unit_count] = (struct unit){.die = die};
		add_ranges(&symbols->ranges, &die,
			   (uint32_t)symbols->unit_count);
		symbols->unit_count++;
	}
	sort_ranges(&symbols->ranges);
}

/* The unit of a module address, which becomes a DWARF address. */
static struct unit *find_unit(struct swz_symbols *symbols, uint64_t *address)
{
	uint32_t index;

	if (!symbols->dwarf_tried) {
		errno = 0;
		load_units(symbols);
		check_memory();
	}
	*address -= symbols->bias;
	index = find_range(&symbols->ranges, *address);
	return index == UINT32_MAX ? NULL : &symbols->units[index];
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

bool swz_symbols_lack_sections(const struct swz_symbols *symbols)
{
	return symbols->lacks_sections;
}

struct swz_source swz_symbols_line(struct swz_symbols *symbols,
				   uint64_t address)
{
	struct swz_source source = {NULL, 0};
	struct unit *unit = find_unit(symbols, &address);
	const char *file, *directory;
	Dwarf_Line *line;

	errno = 0;
	line = unit ? dwarf_getsrc_die(&unit->die, address) : NULL;
	check_memory();
	if (!line)
		return source;
	file = dwarf_linesrc(line, NULL, NULL);
	/* line 0: code that the compiler made up */
	if (!file || dwarf_lineno(line, &source.line) != 0 || source.line <= 0)
		return (struct swz_source){NULL, 0};
	directory = string_of(&unit->die, DW_AT_comp_dir);
	free(symbols->file);
	symbols->file = file[0] == '/' || !directory
				? swz_duplicate(file)
				: swz_print("%s/%s", directory, file);
	source.file = symbols->file;
	return source;
}

/* ---- inlined functions ---- */

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static void scan_unit(struct unit *unit)
{
	Dwarf_Die path[MAX_DIE_DEPTH];
	Dwarf_Die child, split;
	size_t depth = 0;
	bool more;

	unit->scanned = true;
	if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL,
			  NULL) != 0 ||
	    dwarf_tag(&split) == DW_TAG_invalid)
		split = unit->die;
	more = dwarf_child(&split, &child) == 0;
	while (more) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram &&
		    (dwarf_hasattr(&child, DW_AT_low_pc) ||
		     dwarf_hasattr(&child, DW_AT_ranges))) {
			swz_grow(&unit->functions, &unit->function_capacity,
				 unit->function_count,
				 sizeof(*unit->functions));
			unit->functions[unit->function_count] = child;
			add_ranges(&unit->ranges, &child,
				   (uint32_t)unit->function_count++);
		} else if (may_hold_functions(tag) && depth < MAX_DIE_DEPTH) {
			path[depth] = child;
			if (dwarf_child(&path[depth], &child) == 0) {
				depth++;
				continue;
			}
			child = path[depth];
		}
		while ((more = dwarf_siblingof(&child, &child) == 0) == false &&
		       depth > 0)
			child = path[--depth];
	}
	sort_ranges(&unit->ranges);
}

static int call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute),
			    &line) != 0 ||
	    line > INT32_MAX)
		return 0;
	return (int)line;
}

/* Steps from DIE to its child that holds ADDRESS and may be, or may hold,
 * inlined code. */
static bool descend(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Die child;
	int end;

	for (end = dwarf_child(die, &child); end == 0;
	     end = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(&child, address) == 1) {
			*die = child;
			return true;
		}
	}
	return false;
}

struct swz_inline swz_symbols_inline(struct swz_symbols *symbols,
				     uint64_t address)
{
	struct swz_inline result = {NULL, 0};
	struct unit *unit = find_unit(symbols, &address);
	Dwarf_Die die;
	uint32_t index;
	int depth;

	if (!unit)
		return result;
	if (!unit->scanned) {
		errno = 0;
		scan_unit(unit);
		check_memory();
	}
	index = find_range(&unit->ranges, address);
	if (index == UINT32_MAX)
		return result;
	die = unit->functions[index];
	errno = 0;
	for (depth = 0; depth < MAX_DIE_DEPTH && descend(&die, address);
	     depth++) {
		const char *name;

		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		if (!result.name)
			result.line = call_line(&die);
		name = string_of(&die, DW_AT_linkage_name);
		if (!name)
			name = dwarf_diename(&die);
		if (name)
			result.name = name;
	}
	check_memory();
	return result;
}
