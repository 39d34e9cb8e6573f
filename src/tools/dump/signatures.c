#include "tools/dump/signatures.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "profile/names/signature_builder.h"
#include "profile/support/map.h"
#include "profile/support/memory.h"

#define MOST_DEPTH 32 /* of namespaces and classes */

struct finding {
	struct swz_signature_builder builder;
	const struct swz_signature_choice *choice;
	const char *path;       /* of the module */
	struct swz_map changed; /* addresses of functions that are clones */
	size_t functions;       /* with code */
	struct swz_value_mark *marks;
	size_t mark_count, mark_capacity;
};

/* Compilers change what clones are given. */
static void find_clones(struct finding *f, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module), i;
	GElf_Addr bias = 0;

	(void)dwfl_module_getelf(module, &bias);
	for (i = 1; i < count; i++) {
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym(module, i, &symbol, NULL);

		if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    (strstr(name, ".constprop") || strstr(name, ".isra") ||
		     strstr(name, ".part") || strstr(name, ".cold")))
			*swz_map_at(&f->changed, symbol.st_value - bias, 0) = 1;
	}
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
			       dwarf_attr_integrate(
				       die, DW_AT_MIPS_linkage_name, &attribute)
		       ? dwarf_formstring(&attribute)
		       : NULL;
}

/* What a function may be called in a pattern. */
struct names {
	const char *of[3]; /* or NULL */
	char qualified[512];
};

static void find_names(struct names *names, const char *name,
		       const char *linkage)
{
	names->of[0] = name;
	names->of[1] = linkage;
	names->of[2] = NULL;
	if (linkage && swz_qualified_name(linkage, names->qualified,
					  sizeof(names->qualified)))
		names->of[2] = names->qualified;
}

static bool is_named(const struct names *names, const char *pattern)
{
	unsigned n;

	for (n = 0; n < 3; n++)
		if (names->of[n] && fnmatch(pattern, names->of[n], 0) == 0)
			return true;
	return false;
}

/* --args */
static bool matches(const struct swz_signature_choice *choice,
		    const struct names *names)
{
	bool wanted = false, any = false;
	int i;

	for (i = 0; i < choice->pattern_count; i++) {
		const char *pattern = choice->patterns[i];

		if (*pattern == '!') {
			if (is_named(names, pattern + 1))
				return false;
			continue;
		}
		any = true;
		wanted |= is_named(names, pattern);
	}
	return choice->pattern_count && (wanted || !any);
}

/* --config: of the rules that match; false: no value is needed. */
static bool read_settings(const struct finding *f, const struct names *names,
			  const char *source, struct swz_settings *settings)
{
	const struct swz_config_file *config = f->choice->config;
	bool needs = false;
	size_t i;

	for (i = 0; i < config->count; i++) {
		const struct swz_rule *rule = &config->rules[i];
		char *pattern = swz_rule_functions(rule);
		bool fits = pattern ? is_named(names, pattern)
			    : rule->kind == SWZ_RULE_FILE
				    ? swz_rule_matches_path(rule, source)
				    : rule->kind == SWZ_RULE_MODULE &&
					      swz_rule_matches_path(rule,
								    f->path);

		free(pattern);
		if (!fits)
			continue;
		swz_settings_add(settings, rule);
		needs |= swz_rule_needs_values(rule);
	}
	return needs;
}

static void add_checks(struct finding *f, const struct swz_settings *s)
{
	unsigned i, mark;

	for (i = 0; i < s->condition_count; i++) {
		const struct swz_condition *c = s->conditions[i];

		if (c->kind != SWZ_IF_BACKTRACE) {
			swz_signature_add_check(&f->builder, c);
			continue;
		}
		for (mark = 0; mark < f->choice->mark_count; mark++)
			if (strcmp(f->choice->marks[mark], c->name) == 0)
				swz_signature_add_backtrace(&f->builder,
							    c->levels, mark);
	}
}

static void add_function(struct finding *f, Dwarf_Die *die)
{
	struct swz_settings settings = {0};
	struct swz_signature_wish wish;
	Dwarf_Addr address, base, end;
	struct names names;
	bool wanted;

	/* of one in several pieces the first is where it begins */
	if (dwarf_entrypc(die, &address) != 0 &&
	    dwarf_ranges(die, 0, &base, &address, &end) <= 0)
		return;
	f->functions++;
	if (swz_map_get(&f->changed, address, 0) != SWZ_MAP_NONE)
		return;
	find_names(&names, dwarf_diename(die), linkage_name(die));
	wanted = read_settings(f, &names, dwarf_decl_file(die), &settings);
	if (settings.list_args != SWZ_NO)
		wanted |= matches(f->choice, &names);
	wish.object = settings.dump_this == SWZ_YES;
	wish.fields = settings.fields ? settings.fields->fields : NULL;
	wish.field_count = settings.fields ? settings.fields->field_count : 0;
	if ((wanted || settings.condition_count) &&
	    swz_signature_add(&f->builder, die, address, &wish))
		add_checks(f, &settings);
}

/* What conditions look for among callers: by symbols, as that needs no debug
 * information. */
static void find_marks(struct finding *f, Dwfl_Module *module)
{
	int count = f->choice->mark_count ? dwfl_module_getsymtab(module) : 0;
	GElf_Addr bias = 0;
	int i;

	(void)dwfl_module_getelf(module, &bias);
	for (i = 1; i < count; i++) {
		struct swz_value_mark mark = {0};
		struct names names;
		unsigned bit;
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym(module, i, &symbol, NULL);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    !symbol.st_value)
			continue;
		find_names(&names, name, name);
		for (bit = 0; bit < f->choice->mark_count; bit++)
			if (is_named(&names, f->choice->marks[bit]))
				mark.bits |= 1u << bit;
		mark.function = (uint32_t)(symbol.st_value - bias);
		if (!mark.bits)
			continue;
		swz_grow(&f->marks, &f->mark_capacity, f->mark_count,
			 sizeof(*f->marks));
		f->marks[f->mark_count++] = mark;
	}
}

static void walk(struct finding *f, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MOST_DEPTH || dwarf_child(parent, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_function(f, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_module:
			walk(f, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

static int by_function(const void *left, const void *right)
{
	const struct swz_value_mark *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
}

/* By address; of two with the same one, as they came. */
static int by_address(const void *left, const void *right, void *of)
{
	const struct swz_signature *all = of;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (all[a].function != all[b].function)
		return all[a].function < all[b].function ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_signature(const void *left, const void *right)
{
	const struct swz_value_check *a = left, *b = right;

	return a->signature < b->signature ? -1 : a->signature > b->signature;
}

/* Signatures by address; their checks go with them. */
static void sort(struct swz_signature_builder *b)
{
	uint32_t *order = swz_allocate(b->count + 1, sizeof(*order));
	uint32_t *place = swz_allocate(b->count + 1, sizeof(*place));
	struct swz_signature *sorted = swz_allocate(b->count + 1,
						    sizeof(*sorted));
	size_t i;

	for (i = 0; i < b->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, b->count, sizeof(*order), by_address, b->signatures);
	for (i = 0; i < b->count; i++) {
		sorted[i] = b->signatures[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (i = 0; i < b->check_count; i++)
		b->checks[i].signature = place[b->checks[i].signature];
	if (b->check_count)
		qsort(b->checks, b->check_count, sizeof(*b->checks),
		      by_signature);
	free(b->signatures);
	b->signatures = sorted;
	free(order);
	free(place);
}

static void put(FILE *stream, const void *items, size_t count, size_t size)
{
	if (count)
		fwrite(items, size, count, stream);
}

static void write_file(FILE *stream, struct finding *f)
{
	struct swz_signature_builder *b = &f->builder;
	struct swz_signature_file head = {
		.count = (uint32_t)b->count,
		.parts = (uint32_t)b->part_count,
		.types = (uint32_t)b->type_count,
		.members = (uint32_t)b->member_count,
		.text = (uint32_t)b->text_bytes + 1,
		.checks = (uint32_t)b->check_count,
		.marks = (uint32_t)f->mark_count,
	};

	memcpy(head.magic, SWZ_SIGNATURES_MAGIC, sizeof(head.magic));
	sort(b);
	if (f->mark_count)
		qsort(f->marks, f->mark_count, sizeof(*f->marks), by_function);
	put(stream, &head, 1, sizeof(head));
	put(stream, b->checks, b->check_count, sizeof(*b->checks));
	put(stream, f->marks, f->mark_count, sizeof(*f->marks));
	put(stream, b->signatures, b->count, sizeof(*b->signatures));
	put(stream, b->parts, b->part_count, sizeof(*b->parts));
	put(stream, b->types, b->type_count, sizeof(*b->types));
	put(stream, b->members, b->member_count, sizeof(*b->members));
	put(stream, b->text ? b->text : "", b->text_bytes, 1);
	putc(0, stream);
}

static bool is_build(Dwfl_Module *module, const uint8_t *build_id, size_t bytes)
{
	const unsigned char *id;
	GElf_Addr at;
	int size = dwfl_module_build_id(module, &id, &at);

	return !bytes || (size > 0 && (size_t)size == bytes &&
			  memcmp(id, build_id, bytes) == 0);
}

enum swz_answer swz_dump_find_signatures(
	FILE *stream, const char *path, const uint8_t *build_id, size_t bytes,
	const struct swz_signature_choice *choice)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct finding f = {.choice = choice,
			    .path = path,
			    .builder = {.config = choice->config}};
	enum swz_answer answer = SWZ_ANSWER_NO_FILE;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	module = dwfl ? dwfl_report_offline(dwfl, "", path, -1) : NULL;
	if (module && is_build(module, build_id, bytes)) {
		dwfl_report_end(dwfl, NULL, NULL);
		find_clones(&f, module);
		while ((unit = dwfl_module_nextcu(module, unit, &bias)) != NULL)
			walk(&f, unit, 0);
		find_marks(&f, module);
		answer = f.builder.count || f.mark_count ? SWZ_ANSWER_SIGNATURES
			 : f.functions                   ? SWZ_ANSWER_NO_MATCH
							 : SWZ_ANSWER_NO_DEBUG;
	}
	if (answer == SWZ_ANSWER_SIGNATURES)
		write_file(stream, &f);
	swz_signature_builder_free(&f.builder);
	swz_map_free(&f.changed);
	free(f.marks);
	dwfl_end(dwfl);
	return answer;
}
