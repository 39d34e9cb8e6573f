/* Options choose functions by name (-H, -Z, -F, -N) and by source file (-L). A
 * function that is not wanted is refused while its module is planned, so that
 * it costs nothing; what depends on the caller is marked, and the hook asks. */

#include "runtime/discovery/filter.h"

#include <string.h>

#include "base/basics.h"
#include "base/qualified_name.h"
#include "base/syscall.h"
#include "image/elf_view.h"
#include "image/line_table.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"

/* --- source files -------------------------------------------------------- */

/* The line tables say which file each range of code comes from. They are run
 * through once; a range in which a function begins asks for the file's name,
 * and what the patterns say of it is kept for the rest of its unit, since names
 * are found by walking through a list. */

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

static struct swz_pattern_hits location_matches;

static bool any_known;

bool swz_location_any_known(void)
{
	return any_known;
}

/* ---------------------------------------------------------------- files */

static bool append_path(char *path, const char *part)
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
					   &location_matches);
		path = strchr(path, '/');
	} while (path && path++);
	return swz_patterns_decide(swz_config.location, found);
}

static enum verdict ask(const struct swz_line_unit *unit, uint64_t index)
{
	struct swz_line_file file;
	char path[PATH_BYTES];

	path[0] = '\0';
	if (!swz_line_file(unit, index, &file) ||
	    !append_path(path, file.base) ||
	    !append_path(path, file.directory) || !append_path(path, file.name))
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
	uint32_t low;

	SWZ_PARTITION(low, m->function_count,
		      m->functions[low].start < address);
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
		if (append_path(path, places[i].below) &&
		    append_path(path, name) &&
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

static void refuse_unwanted(struct swz_module *m, const uint8_t *verdicts)
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

/* Refuses the module's functions whose source file is not wanted, and, unless
 * the patterns only exclude, those whose source file is not known. */
static void location_filter(struct swz_module *m)
{
	struct search s = {.module = m};
	struct swz_line_sections sections;
	struct swz_elf elf = {0};

	if (!m->file.file.size || (!open_lines(&m->file, &sections) &&
				   !open_separate(m, &elf, &sections))) {
		refuse_unwanted(m, NULL);
		return;
	}
	s.files = swz_scratch_alloc(MOST_FILES * sizeof(*s.files));
	s.verdicts = swz_scratch_alloc(m->function_count);
	if (s.files && s.verdicts)
		search_lines(&s, &sections);
	refuse_unwanted(m, s.files ? s.verdicts : NULL);
	if (elf.file.size)
		swz_sys_munmap((void *)(uintptr_t)elf.file.data, elf.file.size);
}

/* --- names --------------------------------------------------------------- */

static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
#define TABLE_COUNT (sizeof(tables) / sizeof(tables[0]))

/* --------------------------------------------------------------- by name */

unsigned swz_filter_languages(const struct swz_elf *file)
{
	unsigned languages = 0;

	for (unsigned t = 0; t < TABLE_COUNT && file->file.size; t++) {
		struct swz_elf_symbols it;
		struct swz_elf_symbol s;

		if (swz_elf_symbols_open(&it, file, tables[t]) != SWZ_OK)
			continue;
		while (swz_elf_symbols_next(&it, &s))
			languages |= swz_languages_of(s.name);
	}
	return languages;
}

/* Notes the first item of -A that matches the name asked for last. */
static void note_captured(struct swz_function *f)
{
	int number = swz_signature_patterns
			     ? swz_symbol_match_first(SWZ_CAPTURE)
			     : -1;

	if (number >= 0 && !f->captured)
		f->captured = (uint32_t)number + 1;
}

/* Notes the rule of --slow, whose patterns are those of -F, that matches the
 * name asked for last. */
static void note_slow(struct swz_function *f)
{
	int rule = swz_config.slow && !(f->filter & SWZ_FILTER_SLOW)
			   ? swz_symbol_match_first(SWZ_ONLY)
			   : -1;

	if (rule >= 0)
		f->filter |= (uint8_t)((rule + 1) << SWZ_FILTER_SLOW_SHIFT);
}

/* The marks of each function, from all symbols at its beginning. */
static void match_symbols(const struct swz_module *m, uint32_t table,
			  unsigned languages, swz_name_marks *marks)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;

	if (swz_elf_symbols_open(&it, &m->file, table) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &s)) {
		const struct swz_function *f;
		swz_name_marks found;

		if (!swz_is_function_symbol(&s))
			continue;
		found = swz_symbol_match(s.name, s.value, languages);
		f = found ? swz_function_at(m, s.value) : NULL;
		if (!f || f->start != s.value || f->is_piece || f->wrapper)
			continue;
		marks[f - m->functions] |= found;
		swz_symbol_match_note();
		note_captured(&m->functions[f - m->functions]);
		note_slow(&m->functions[f - m->functions]);
	}
}

/* The name by which a function without a symbol is shown. */
static void make_up_name(char *name, uint64_t address)
{
	unsigned digits = 1;

	while (digits < 16 && address >> 4 * digits)
		digits++;
	memcpy(name, "sub_", 4);
	for (unsigned i = 0; i < digits; i++)
		name[4 + i] =
			"0123456789abcdef"[address >> 4 * (digits - 1 - i) &
					   15];
	name[4 + digits] = '\0';
}

static swz_name_marks match_nameless(struct swz_function *f)
{
	swz_name_marks found;
	char name[24];

	make_up_name(name, f->start);
	found = swz_name_match(name);
	if (found) {
		swz_symbol_match_note();
		note_captured(f);
		note_slow(f);
	}
	return found;
}

static void apply(struct swz_function *f, swz_name_marks marks, bool refuses)
{
	if (refuses && swz_symbol_match_decides(SWZ_HIDE, marks))
		swz_function_refuse(f, SWZ_REFUSE_FILTERED);
	if (swz_symbol_match_decides(SWZ_ONLY, marks))
		f->filter |= SWZ_FILTER_ONLY;
	if (swz_symbol_match_decides(SWZ_NOTRACE, marks))
		f->filter |= SWZ_FILTER_NOTRACE;
	if (swz_config.start_at.pattern &&
	    swz_symbol_match_decides(SWZ_START_AT, marks))
		f->filter |= SWZ_FILTER_START;
	if (swz_config.stop_at.pattern &&
	    swz_symbol_match_decides(SWZ_STOP_AT, marks))
		f->filter |= SWZ_FILTER_STOP;
	if (swz_symbol_match_decides(SWZ_PERCENTILES, marks))
		f->filter |= SWZ_FILTER_PERCENTILES;
}

enum swz_status swz_filter_by_name(struct swz_module *m, bool refuses)
{
	unsigned languages;
	swz_name_marks *marks;

	if (!swz_symbol_match_is_wanted() || !m->function_count)
		return SWZ_OK;
	marks = swz_scratch_alloc(m->function_count * sizeof(*marks));
	if (!marks || swz_symbol_match_begin() != SWZ_OK)
		return SWZ_E_NOMEM;
	languages = swz_filter_languages(&m->file);
	for (unsigned t = 0; t < TABLE_COUNT && m->file.file.size; t++)
		match_symbols(m, tables[t], languages, marks);
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->is_piece || f->wrapper)
			continue;
		if (!f->name)
			marks[i] |= match_nameless(f);
		apply(f, marks[i], refuses);
	}
	swz_symbol_match_end();
	return SWZ_OK;
}

static void mark_flows(struct swz_module *m, uint32_t table)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;

	if (swz_elf_symbols_open(&it, &m->file, table) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &s)) {
		struct swz_function *f;
		int64_t number = swz_is_function_symbol(&s)
					 ? swz_signature_of_libc(s.name)
					 : -1;

		f = number >= 0 ? swz_function_at(m, s.value) : NULL;
		if (f && f->start == s.value && !f->is_piece)
			f->captured = (uint32_t)number + 1;
	}
}

void swz_filter_flows(struct swz_module *m)
{
	if (!m->has_flows || !m->file.file.size)
		return;
	mark_flows(m, SHT_DYNSYM);
	for (uint32_t i = 0; m->flows_only && i < m->function_count; i++)
		if (!m->functions[i].captured && !m->functions[i].wrapper)
			swz_function_refuse(&m->functions[i],
					    SWZ_REFUSE_FILTERED);
}

enum swz_status swz_filter_module(struct swz_module *m)
{
	enum swz_status status;

	if (m->flows_only) {
		status = swz_filter_by_name(m, false);
		swz_filter_flows(m);
		return status;
	}
	for (uint32_t i = 0; swz_config.min_size && i < m->function_count; i++)
		if (!m->functions[i].wrapper &&
		    m->functions[i].size < swz_config.min_size)
			swz_function_refuse(&m->functions[i],
					    SWZ_REFUSE_FILTERED);
	status = swz_filter_by_name(m, true);
	if (status == SWZ_OK && swz_config.location)
		location_filter(m);
	swz_filter_flows(m);
	return status;
}

/* ---------------------------------------------------------- what matches
 * nothing */

#define MOST_TOLD 8u

static void tell_pattern(const char *option, const struct swz_pattern *p,
			 const char *what)
{
	struct swz_line line;

	if (swz_config.quiet)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ");
	swz_line_string(&line, option);
	swz_line_string(&line, " '");
	for (unsigned i = 0; i < p->length; i++)
		swz_line_string(&line, (char[]){p->text[i], '\0'});
	swz_line_string(&line, "' matches no ");
	swz_line_string(&line, what);
	swz_line_string(&line, " (of what is loaded at the start)");
	swz_line_write(&line);
}

#define MOST_MODULES 12u

/* The modules by the last parts of their paths. */
static void tell_modules(const struct swz_modules *modules)
{
	struct swz_line line;
	unsigned told = 0;

	if (swz_config.quiet)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: -M: there are: ");
	for (unsigned i = 0; i < modules->count && told < MOST_MODULES; i++) {
		const struct swz_module *m = &modules->of[i];
		const char *name = m->path;

		if (*name != '/' ||
		    (uintptr_t)&swz_config - m->start < m->end - m->start)
			continue; /* the kernel's, and we */

		for (const char *s = name; *s; s++)
			if (*s == '/' && s[1])
				name = s + 1;
		swz_line_string(&line, told++ ? ", " : "");
		swz_line_string(&line, name);
	}
	if (told == MOST_MODULES)
		swz_line_string(&line, ", ...");
	swz_line_write(&line);
}

/* How many there are. */
static unsigned tell_patterns(const char *option, const char *list,
			      const struct swz_pattern_hits *hits,
			      const char *what)
{
	struct swz_pattern p;
	unsigned told = 0;

	for (unsigned i = 0;
	     i < SWZ_PATTERNS_NOTED && swz_patterns_next(&list, &p); i++)
		if (!(hits->bits[i / 64] >> i % 64 & 1) && told++ < MOST_TOLD)
			tell_pattern(option, &p, what);
	if (told > MOST_TOLD)
		swz_say(option, ": more patterns match no ", what);
	return told;
}

static unsigned tell_names(void)
{
	static const char *const names[SWZ_NAME_OPTIONS] = {
		[SWZ_HIDE] = "-H",
		[SWZ_ONLY] = "-F",
		[SWZ_NOTRACE] = "-N",
		[SWZ_CAPTURE] = "-A",
		[SWZ_START_AT] = "--start-at",
		[SWZ_STOP_AT] = "--stop-at",
		[SWZ_PERCENTILES] = "--percentiles"};
	unsigned told = 0;

	for (unsigned o = 0; o < SWZ_NAME_OPTIONS; o++) {
		const struct swz_pattern_hits *hits;
		const char *list = swz_name_patterns(o, &hits);

		told += tell_patterns(
			o == SWZ_ONLY && swz_config.slow ? "--slow" : names[o],
			list, hits, "function");
	}
	return told;
}

static bool any_is_recorded(void)
{
	for (uint32_t id = 0; id < swz_ids_next(); id++)
		if (swz_ids_filter(id) & SWZ_FILTER_ONLY)
			return true;
	return false;
}

void swz_filter_tell(const struct swz_modules *modules)
{
	bool any_is_hooked = swz_config.imports;
	unsigned told;

	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope &&
		    modules->of[i].counts[SWZ_PATCHED])
			any_is_hooked = true;
	told = tell_patterns("-M", swz_config.module, &swz_module_hits,
			     "module");
	if (told)
		tell_modules(modules);
	else
		told = tell_names();
	if (swz_config.location && !swz_location_any_known())
		return; /* this has been said */
	told += tell_patterns("-L", swz_config.location, &location_matches,
			      "source file");
	if (swz_signatures_lack() && !swz_config.list)
		swz_say("--args: ", swz_signatures_lack(), NULL);
	if (told)
		return;
	if (!any_is_hooked && (swz_config.module || swz_config.hide ||
			       swz_config.min_size || swz_config.location))
		swz_say("no function is hooked: the options leave out all that "
			"is "
			"loaded at the start",
			NULL, NULL);
	else if (swz_config.filter && !any_is_recorded())
		swz_say("no function is recorded: ",
			swz_config.slow ? "--slow" : "-F",
			" matches none that is hooked (of what is loaded at "
			"the start)");
}
