#include "runtime/discovery/filter.h"

#include <string.h>

#include "base/shown_name.h"
#include "runtime/discovery/location.h"
#include "runtime/discovery/symbol_match.h"
#include "runtime/record/flow_functions.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/signatures.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch.h"

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

/* Of the name that was asked for last: the first item of -A counts. */
static void note_captured(struct swz_function *f)
{
	int number = swz_signature_patterns
			     ? swz_symbol_match_first(SWZ_CAPTURE)
			     : -1;

	if (number >= 0 && !f->captured)
		f->captured = (uint32_t)number + 1;
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
		swz_location_filter(m);
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
		[SWZ_STOP_AT] = "--stop-at"};
	unsigned told = 0;

	for (unsigned o = 0; o < SWZ_NAME_OPTIONS; o++) {
		const struct swz_pattern_hits *hits;
		const char *list = swz_name_patterns(o, &hits);

		told += tell_patterns(names[o], list, hits, "function");
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
	if (!told)
		told = tell_names();
	if (swz_config.location && !swz_location_any_known())
		return; /* this has been said */
	told += tell_patterns("-L", swz_config.location, &swz_location_hits,
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
		swz_say("no function is recorded: -F matches none that is "
			"hooked (of "
			"what is loaded at the start)",
			NULL, NULL);
}
