/* The line tables say which file each range of code comes from. They are run
 * through once; a range in which a function begins asks for the file's name,
 * and what the patterns say of it is kept for the rest of its unit, since names
 * are found by walking through a list. */

#include "runtime/discovery/location.h"

#include <string.h>

#include "base/syscall.h"
#include "image/inflate.h"
#include "image/line_table.h"
#include "runtime/discovery/function.h"
#include "runtime/support/config.h"
#include "runtime/support/pattern.h"
#include "runtime/support/scratch.h"

#define MOST_FILES (1u << 16) /* in one unit; of more nothing is known */
#define PATH_BYTES 4096

enum verdict { UNKNOWN, WANTED, UNWANTED };

struct search {
	struct swz_module *module;
	struct swz_line_unit unit;
	uint32_t unit_number; /* from 1 on */
	uint32_t *files;      /* unit number << 2 | verdict */
	uint8_t *verdicts;    /* of functions */
	uint32_t next;        /* a guess: the function at or behind a range */
};

struct swz_pattern_hits swz_location_hits;

static bool any_known;

bool swz_location_any_known(void)
{
	return any_known;
}

/* ---------------------------------------------------------------- files */

static bool append(char *path, const char *part)
{
	size_t used = strlen(path), length;

	if (!part || !*part)
		return true;
	length = strlen(part);
	if (used + length + 2 > PATH_BYTES)
		return false;
	if (used && path[used - 1] != '/')
		path[used++] = '/';
	memcpy(path + used, part, length + 1);
	return true;
}

/* The patterns are tried on the path and on each of its ends: foo.c, src/foo.c,
 * ... */
static bool is_wanted(const char *path)
{
	unsigned found = 0;

	do {
		found |= swz_patterns_find(swz_config.location, &path, 1,
					   &swz_location_hits);
		path = strchr(path, '/');
	} while (path && path++);
	return swz_patterns_decide(swz_config.location, found);
}

static enum verdict ask(const struct swz_line_unit *unit, uint64_t index)
{
	struct swz_line_file file;
	char path[PATH_BYTES];

	path[0] = '\0';
	if (!swz_line_file(unit, index, &file) || !append(path, file.base) ||
	    !append(path, file.directory) || !append(path, file.name))
		return UNKNOWN;
	return is_wanted(path) ? WANTED : UNWANTED;
}

static enum verdict verdict_of(struct search *s, uint64_t index)
{
	if (index >= MOST_FILES)
		return UNKNOWN;
	if (s->files[index] >> 2 != s->unit_number)
		s->files[index] = s->unit_number << 2 | ask(&s->unit, index);
	return s->files[index] & 3;
}

/* ------------------------------------------------------------ functions */

static uint32_t first_behind(const struct swz_module *m, uint64_t address)
{
	uint32_t low = 0, high = m->function_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool note_range(void *context, const struct swz_line_range *range)
{
	struct search *s = context;
	const struct swz_function *f = s->module->functions;
	uint32_t count = s->module->function_count, i = s->next;

	if (!swz_module_is_text(s->module, range->sequence_start, 1))
		return true; /* thrown away by the linker */
	if ((i < count && f[i].start < range->start) ||
	    (i && f[i - 1].start >= range->start))
		i = first_behind(s->module, range->start);
	for (; i < count && f[i].start < range->end; i++)
		if (s->verdicts[i] == UNKNOWN)
			s->verdicts[i] = (uint8_t)verdict_of(s, range->file);
	s->next = i;
	return true;
}

static void search_lines(struct search *s,
			 const struct swz_line_sections *sections)
{
	struct swz_line_iterator it;

	swz_line_begin(&it, sections);
	while (swz_line_next(&it, &s->unit)) {
		s->unit_number++;
		if (swz_line_ranges(&s->unit, note_range, s) != SWZ_OK)
			continue; /* what was seen stands */
	}
}

/* ----------------------------------------------------- debug information */

static struct swz_bytes inflated(struct swz_bytes bytes)
{
	struct swz_bytes none = {0};
	struct swz_inflate_tables *tables;
	Elf64_Chdr header;
	uint8_t *out;

	if (bytes.size < sizeof(header))
		return none;
	memcpy(&header, bytes.data, sizeof(header));
	bytes.data += sizeof(header);
	bytes.size -= sizeof(header);
	if (header.ch_type != ELFCOMPRESS_ZLIB ||
	    header.ch_size > swz_inflate_most(bytes.size))
		return none;
	out = swz_scratch_alloc(header.ch_size);
	tables = swz_scratch_alloc(sizeof(*tables));
	if (!out || !tables ||
	    swz_inflate(bytes, out, header.ch_size, tables) != SWZ_OK)
		return none;
	return (struct swz_bytes){out, header.ch_size};
}

static struct swz_bytes section(const struct swz_elf *elf, const char *name)
{
	const Elf64_Shdr *s = swz_elf_section(elf, name);
	struct swz_bytes bytes = {0};

	if (!s)
		return bytes;
	bytes = swz_elf_section_bytes(elf, s);
	return s->sh_flags & SHF_COMPRESSED ? inflated(bytes) : bytes;
}

static bool open_lines(const struct swz_elf *elf,
		       struct swz_line_sections *sections)
{
	const Elf64_Shdr *s;

	sections->line = section(elf, ".debug_line");
	if (!sections->line.size)
		return false;
	sections->line_strings = section(elf, ".debug_line_str");
	/* could hold names by the standard, but compilers do not put them
	 * there: not worth decompressing */
	s = swz_elf_section(elf, ".debug_str");
	sections->strings = (struct swz_bytes){0};
	if (s && !(s->sh_flags & SHF_COMPRESSED))
		sections->strings = swz_elf_section_bytes(elf, s);
	return true;
}

/* Another file, if it holds line tables and is of the same build. */
static bool open_other(const struct swz_module *m, const char *path,
		       struct swz_elf *elf, struct swz_line_sections *sections)
{
	struct swz_bytes file = swz_file_map(path, NULL), id;

	if (!file.size)
		return false;
	if (swz_elf_open(elf, file) == SWZ_OK) {
		id = swz_elf_build_id(elf);
		if (id.size == m->build_id.size &&
		    memcmp(id.data, m->build_id.data, id.size) == 0 &&
		    open_lines(elf, sections))
			return true;
	}
	swz_sys_munmap((void *)(uintptr_t)file.data, file.size);
	return false;
}

/* /usr/lib/debug/.build-id/01/23456789....debug */
static void name_by_build_id(char *path, struct swz_bytes id)
{
	static const char digits[] = "0123456789abcdef";
	static const char directory[] = "/usr/lib/debug/.build-id/";
	size_t at = sizeof(directory) - 1;

	memcpy(path, directory, at);
	for (size_t i = 0; i < id.size; i++) {
		path[at++] = digits[id.data[i] >> 4];
		path[at++] = digits[id.data[i] & 15];
		if (!i)
			path[at++] = '/';
	}
	memcpy(path + at, ".debug", 7);
}

/* .gnu_debuglink: the name of a file beside the module's, in .debug below, or
 * below /usr/lib/debug. */
static bool open_linked(const struct swz_module *m, struct swz_elf *elf,
			struct swz_line_sections *sections)
{
	struct swz_bytes link = section(&m->file, ".gnu_debuglink");
	size_t directory = strlen(m->path), length;
	static const struct {
		const char *above, *below;
	} places[] = {{"", ""}, {"", ".debug"}, {"/usr/lib/debug", ""}};
	const char *name = (const char *)link.data;
	char path[PATH_BYTES];

	/* the name, its NUL, padding, a checksum (the build-id serves better)
	 */
	for (length = 0; length < link.size && name[length]; length++)
		;
	if (!length || length == link.size || m->path[0] != '/')
		return false;
	while (m->path[directory - 1] != '/')
		directory--;
	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t above = strlen(places[i].above);

		if (above + directory + 8 > PATH_BYTES)
			continue;
		memcpy(path, places[i].above, above);
		memcpy(path + above, m->path, directory);
		path[above + directory] = '\0';
		if (append(path, places[i].below) && append(path, name) &&
		    open_other(m, path, elf, sections))
			return true;
	}
	return false;
}

static bool open_separate(const struct swz_module *m, struct swz_elf *elf,
			  struct swz_line_sections *sections)
{
	char path[128];

	if (!m->build_id.size)
		return false;
	name_by_build_id(path, m->build_id);
	return open_other(m, path, elf, sections) ||
	       open_linked(m, elf, sections);
}

/* --------------------------------------------------------------- filter */

static void apply(struct swz_module *m, const uint8_t *verdicts)
{
	bool by_default = !swz_patterns_any_positive(swz_config.location);

	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];
		enum verdict v = verdicts ? verdicts[i] : UNKNOWN;

		any_known |= v != UNKNOWN;
		if (v == UNWANTED || (v == UNKNOWN && !by_default))
			if (!f->wrapper)
				swz_function_refuse(f, SWZ_REFUSE_FILTERED);
	}
}

void swz_location_filter(struct swz_module *m)
{
	struct search s = {.module = m};
	struct swz_line_sections sections;
	struct swz_elf elf = {0};

	if (!m->file.file.size || (!open_lines(&m->file, &sections) &&
				   !open_separate(m, &elf, &sections))) {
		apply(m, NULL);
		return;
	}
	s.files = swz_scratch_alloc(MOST_FILES * sizeof(*s.files));
	s.verdicts = swz_scratch_alloc(m->function_count);
	if (s.files && s.verdicts)
		search_lines(&s, &sections);
	apply(m, s.files ? s.verdicts : NULL);
	if (elf.file.size)
		swz_sys_munmap((void *)(uintptr_t)elf.file.data, elf.file.size);
}
