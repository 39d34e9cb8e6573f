#include "tools/dump/signatures.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "profile/names/value_types.h"
#include "profile/support/map.h"
#include "profile/support/memory.h"

#define MOST_DEPTH 32 /* of namespaces and classes */

struct finding {
	struct swz_signature_builder builder;
	char **patterns;
	int pattern_count;
	struct swz_map changed; /* addresses of functions that are clones */
	size_t functions;       /* with code */
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

static bool matches(const struct finding *f, Dwarf_Die *die)
{
	const char *names[3] = {dwarf_diename(die), linkage_name(die), NULL};
	char qualified[512];
	bool wanted = false, any = false;
	int i;
	unsigned n;

	if (names[1] &&
	    swz_qualified_name(names[1], qualified, sizeof(qualified)))
		names[2] = qualified;
	for (i = 0; i < f->pattern_count; i++) {
		const char *pattern = f->patterns[i];
		bool excludes = *pattern == '!';

		any |= !excludes;
		for (n = 0; n < 3; n++) {
			if (!names[n] ||
			    fnmatch(pattern + excludes, names[n], 0) != 0)
				continue;
			if (excludes)
				return false;
			wanted = true;
		}
	}
	return wanted || !any;
}

static void add_function(struct finding *f, Dwarf_Die *die)
{
	Dwarf_Addr address, base, end;

	/* of one in several pieces the first is where it begins */
	if (dwarf_entrypc(die, &address) != 0 &&
	    dwarf_ranges(die, 0, &base, &address, &end) <= 0)
		return;
	f->functions++;
	if (swz_map_get(&f->changed, address, 0) != SWZ_MAP_NONE ||
	    !matches(f, die))
		return;
	swz_signature_add(&f->builder, die, address);
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

static int by_address(const void *left, const void *right)
{
	const struct swz_signature *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
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
		.magic = SWZ_SIGNATURES_MAGIC,
		.count = (uint32_t)b->count,
		.parts = (uint32_t)b->part_count,
		.types = (uint32_t)b->type_count,
		.members = (uint32_t)b->member_count,
		.text = (uint32_t)b->text_bytes + 1,
	};

	qsort(b->signatures, b->count, sizeof(*b->signatures), by_address);
	put(stream, &head, 1, sizeof(head));
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

enum swz_answer swz_dump_find_signatures(FILE *stream, const char *path,
					 const uint8_t *build_id, size_t bytes,
					 int count, char **patterns)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct finding f = {.patterns = patterns, .pattern_count = count};
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
		answer = !f.functions       ? SWZ_ANSWER_NO_DEBUG
			 : !f.builder.count ? SWZ_ANSWER_NO_MATCH
					    : SWZ_ANSWER_SIGNATURES;
	}
	if (answer == SWZ_ANSWER_SIGNATURES)
		write_file(stream, &f);
	swz_signature_builder_free(&f.builder);
	swz_map_free(&f.changed);
	dwfl_end(dwfl);
	return answer;
}
