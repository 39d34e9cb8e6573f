#include "profile/names/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "util/memory.h"
#include "util/output.h"

/* --- compilation units --------------------------------------------------- */

/* Compilation units are found by a table of our own, since clang writes no
 * .debug_aranges, which libdw's own look-up depends on. In the same way the
 * functions of a unit are collected when the first address in it is asked
 * for: a walk over a unit's entries for each call site would be quadratic. */

#define MAX_DIE_DEPTH 64 /* of namespaces, types and blocks */

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
	bool scanned, scanned_within; /* for functions; for those in others */
	Dwarf_Die *functions;
	size_t function_count;
	size_t function_capacity;
	struct ranges ranges;
};

struct swz_debug_info {
	Dwfl_Module *module;
	bool tried; /* to load it */
	bool lacks_sections;
	Dwarf_Addr bias; /* module address = DWARF address + bias */
	struct unit *units;
	size_t unit_count;
	size_t unit_capacity;
	struct ranges ranges;
	char *file; /* the last answer of swz_debug_info_line() */
};

struct swz_debug_info *swz_debug_info_open(Dwfl_Module *module)
{
	struct swz_debug_info *info = swz_allocate(1, sizeof(*info));

	info->module = module;
	return info;
}

void swz_debug_info_close(struct swz_debug_info *info)
{
	size_t i;

	if (!info)
		return;
	for (i = 0; i < info->unit_count; i++) {
		free(info->units[i].functions);
		free(info->units[i].ranges.items);
	}
	free(info->units);
	free(info->ranges.items);
	free(info->file);
	free(info);
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
	size_t low;

	SWZ_PARTITION(low, ranges->count, ranges->items[low].start <= address);
	if (low == 0 || address >= ranges->items[low - 1].end)
		return UINT32_MAX;
	return ranges->items[low - 1].index;
}

/* libdw goes on without the sections that it could not decompress. */
static bool is_any_compressed(Elf *elf)
{
	static const char *const names[] = {
		".debug_info",   ".debug_types",    ".debug_abbrev",
		".debug_line",   ".debug_line_str", ".debug_str",
		".debug_ranges", ".debug_rnglists", ".debug_str_offsets",
		".debug_addr",
	};
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

/* If it can decompress none, it says that there is no debug information. */
static bool is_file_compressed(Dwfl_Module *module)
{
	const char *program = NULL, *debug = NULL;
	bool is_compressed;
	Elf *elf;
	int fd;

	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &program,
			 &debug);
	fd = debug || program ? swz_debug_files_open(debug ? debug : program)
			      : -1;
	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	is_compressed = is_any_compressed(elf);
	elf_end(elf);
	close(fd);
	return is_compressed;
}

bool swz_debug_info_is_packed(Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);

	return dwarf ? is_any_compressed(dwarf_getelf(dwarf))
		     : is_file_compressed(module);
}

static void load_units(struct swz_debug_info *info)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, skeleton;
	Dwarf *dwarf;
	uint8_t type;

	info->tried = true;
	dwarf = dwfl_module_getdwarf(info->module, &info->bias);
	info->lacks_sections = swz_debug_info_is_packed(info->module);
	if (!dwarf)
		return;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &skeleton) ==
	       0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		swz_grow(&info->units, &info->unit_capacity, info->unit_count,
			 sizeof(*info->units));
		info->units[info->unit_count] = (struct unit){.die = die};
		add_ranges(&info->ranges, &die, (uint32_t)info->unit_count);
		info->unit_count++;
	}
	sort_ranges(&info->ranges);
}

/* The unit of a module address, which becomes a DWARF address. */
static struct unit *find_unit(struct swz_debug_info *info, uint64_t *address)
{
	uint32_t index;

	if (!info->tried) {
		errno = 0;
		load_units(info);
		swz_check_memory();
	}
	*address -= info->bias;
	index = find_range(&info->ranges, *address);
	return index == UINT32_MAX ? NULL : &info->units[index];
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

bool swz_debug_info_lacks_sections(const struct swz_debug_info *info)
{
	return info->lacks_sections;
}

struct swz_source swz_debug_info_line(struct swz_debug_info *info,
				      uint64_t address)
{
	struct swz_source source = {NULL, 0};
	struct unit *unit = find_unit(info, &address);
	const char *file, *directory;
	Dwarf_Line *line;

	errno = 0;
	line = unit ? dwarf_getsrc_die(&unit->die, address) : NULL;
	swz_check_memory();
	if (!line)
		return source;
	file = dwarf_linesrc(line, NULL, NULL);
	/* line 0: code that the compiler made up */
	if (!file || dwarf_lineno(line, &source.line) != 0 || source.line <= 0)
		return (struct swz_source){NULL, 0};
	directory = string_of(&unit->die, DW_AT_comp_dir);
	free(info->file);
	info->file = file[0] == '/' || !directory
			     ? swz_duplicate(file)
			     : swz_print("%s/%s", directory, file);
	source.file = info->file;
	return source;
}

/* ---- inlined functions ---- */

static bool may_hold_functions(int tag, bool within)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
	       (within &&
		(tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
}

/* Where the bytes are damaged a sibling may lie among what was visited: a walk
 * that went on there would take time exponential in its depth. LATEST is the
 * offset of the entry that was visited last. */
static bool to_sibling(Dwarf_Die *die, Dwarf_Off *latest)
{
	if (dwarf_siblingof(die, die) != 0 || dwarf_dieoffset(die) <= *latest)
		return false;
	*latest = dwarf_dieoffset(die);
	return true;
}

/* WITHIN: those too that belong to functions, as lambdas do, and nested ones.
 * To find them takes a walk over most of the unit's entries. */
static void scan_unit(struct unit *unit, bool within)
{
	Dwarf_Die path[MAX_DIE_DEPTH];
	Dwarf_Die child, split;
	size_t depth = 0;
	Dwarf_Off latest;
	bool more;

	unit->scanned = true;
	unit->scanned_within = within;
	unit->function_count = 0;
	unit->ranges.count = 0;
	if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL,
			  NULL) != 0 ||
	    dwarf_tag(&split) == DW_TAG_invalid)
		split = unit->die;
	more = dwarf_child(&split, &child) == 0;
	latest = more ? dwarf_dieoffset(&child) : 0;
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
		}
		if (may_hold_functions(tag, within) && depth < MAX_DIE_DEPTH) {
			path[depth] = child;
			if (dwarf_child(&path[depth], &child) == 0) {
				latest = dwarf_dieoffset(&child);
				depth++;
				continue;
			}
			child = path[depth];
		}
		while (!(more = to_sibling(&child, &latest)) && depth > 0)
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
	Dwarf_Off latest;
	bool more = dwarf_child(die, &child) == 0;

	latest = more ? dwarf_dieoffset(&child) : 0;
	for (; more; more = to_sibling(&child, &latest)) {
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

static uint32_t find_function(struct unit *unit, uint64_t address)
{
	uint32_t index;

	errno = 0;
	if (!unit->scanned)
		scan_unit(unit, false);
	index = find_range(&unit->ranges, address);
	if (index == UINT32_MAX && !unit->scanned_within) {
		scan_unit(unit, true);
		index = find_range(&unit->ranges, address);
	}
	swz_check_memory();
	return index;
}

struct swz_inline swz_debug_info_inline(struct swz_debug_info *info,
					uint64_t address)
{
	struct swz_inline result = {NULL, 0};
	struct unit *unit = find_unit(info, &address);
	Dwarf_Die die;
	uint32_t index;
	int depth;

	if (!unit)
		return result;
	index = find_function(unit, address);
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
	swz_check_memory();
	return result;
}

/* --- files with debug information ---------------------------------------- */

/* In a directory of debug files there may be a tree by build-id, a tree that
 * mirrors the file system, or just files. Each file that is tried must have the
 * module's build-id, so it does not matter how it came there. */

#define USUAL_DIRECTORY "/usr/lib/debug"
/* Beside the module, in .debug beside it. '+': checksums are compared. */
#define BESIDE "+:.debug"

const struct swz_debug_files swz_debug_files_usual = {.usual = (char *)BESIDE
						      ":" USUAL_DIRECTORY};

/* libdwfl finds by name what has no build-id. Its list is separated by colons.
 */
static void extend_usual(struct swz_debug_files *files, const char *directory)
{
	const char *before = files->usual ? files->usual
					  : swz_debug_files_usual.usual;
	char *longer = strchr(directory, ':')
			       ? swz_duplicate(before)
			       : swz_print("%s:%s", before, directory);

	free(files->usual);
	files->usual = longer;
}

static char *directory_at(const char *path)
{
	char *whole = realpath(path, NULL);
	struct stat info;

	if (whole && stat(whole, &info) == 0 && !S_ISDIR(info.st_mode)) {
		free(whole);
		whole = NULL;
		errno = ENOTDIR;
	}
	return whole;
}

static void add(struct swz_debug_files *files, char *directory)
{
	swz_grow(&files->directories, &files->capacity, files->count,
		 sizeof(*files->directories));
	files->directories[files->count++] = directory;
	extend_usual(files, directory);
}

int swz_debug_files_add(struct swz_debug_files *files, const char *path)
{
	char *directory = directory_at(path);

	if (!directory)
		return -1;
	add(files, directory);
	return 0;
}

int swz_debug_files_set_root(struct swz_debug_files *files, const char *path)
{
	char *root = directory_at(path);

	if (!root)
		return -1;
	free(files->root);
	files->root = root;
	add(files, swz_print("%s" USUAL_DIRECTORY, root));
	return 0;
}

void swz_debug_files_free(struct swz_debug_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		free(files->directories[i]);
	free(files->directories);
	free(files->usual);
	free(files->root);
	*files = (struct swz_debug_files){0};
}

char *swz_debug_files_module(const struct swz_debug_files *files,
			     const char *path)
{
	return files->root ? swz_print("%s%s", files->root, path)
			   : swz_duplicate(path);
}

int swz_debug_files_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool has_information(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, header.sh_name);
		if (header.sh_type == SHT_SYMTAB ||
		    (name && strcmp(name, ".debug_info") == 0))
			return true;
	}
	return false;
}

static bool belongs_to(int fd, const uint8_t *build_id, size_t build_id_bytes)
{
	const void *found;
	bool belongs;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!elf)
		return false;
	belongs = dwelf_elf_gnu_build_id(elf, &found) ==
			  (ssize_t)build_id_bytes &&
		  memcmp(found, build_id, build_id_bytes) == 0 &&
		  has_information(elf);
	elf_end(elf);
	return belongs;
}

/* Takes PATH over. */
static int try(char *path, const uint8_t *build_id, size_t build_id_bytes,
	       char **found)
{
	int fd = swz_debug_files_open(path);

	if (fd >= 0 && belongs_to(fd, build_id, build_id_bytes)) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

/* To be freed. */
static char *path_by_build_id(const char *directory, const uint8_t *build_id,
			      size_t build_id_bytes)
{
	char digits[2 * 32 + 1];
	size_t i;

	for (i = 0; i < build_id_bytes; i++) {
		digits[2 * i] = "0123456789abcdef"[build_id[i] >> 4];
		digits[2 * i + 1] = "0123456789abcdef"[build_id[i] & 15];
	}
	digits[2 * i] = '\0';
	return swz_print("%s/.build-id/%.2s/%s.debug", directory, digits,
			 digits + 2);
}

static int find_in(const char *directory, const char *path,
		   const uint8_t *build_id, size_t build_id_bytes, char **found)
{
	const char *name = swz_base_name(path);
	int fd = try(path_by_build_id(directory, build_id, build_id_bytes),
		     build_id, build_id_bytes, found);

	if (fd < 0)
		fd = try(swz_print("%s%s.debug", directory, path), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s%s", directory, path), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s/%s.debug", directory, name), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s/%s", directory, name), build_id,
			 build_id_bytes, found);
	return fd;
}

static bool is_usable(size_t build_id_bytes)
{
	return build_id_bytes >= 2 && build_id_bytes <= 32;
}

int swz_debug_files_find(const struct swz_debug_files *files, const char *path,
			 const uint8_t *build_id, size_t build_id_bytes,
			 char **found)
{
	int fd = -1;
	size_t i;

	for (i = 0; i < files->count && fd < 0 && is_usable(build_id_bytes);
	     i++)
		fd = find_in(files->directories[i], path, build_id,
			     build_id_bytes, found);
	return fd;
}

int swz_debug_files_find_usual(const char *path, const uint8_t *build_id,
			       size_t build_id_bytes, char **found)
{
	int fd;

	if (!is_usable(build_id_bytes))
		return -1;
	fd = find_in(USUAL_DIRECTORY, path, build_id, build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s.debug", path), build_id, build_id_bytes,
			 found);
	if (fd < 0)
		fd = try(swz_print("%.*s.debug/%s.debug",
				   (int)(swz_base_name(path) - path), path,
				   swz_base_name(path)),
			 build_id, build_id_bytes, found);
	return fd;
}
