/* dump_this: the object of a method, as a list of fields: those of its bases
 * and of structs in it have names with dots. Before a constructor there is no
 * object, nor after a destructor. */

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/library_types.h"
#include "profile/names/placing.h"
#include "profile/names/value_printers.h"
#include "profile/names/value_types.h"

#define MOST_DEPTH 8     /* of structs in structs */
#define MOST_BYTES 1024u /* of an object */
#define MOST_FIELDS 64u  /* are shown */
#define MOST_PATH 256u   /* bytes of a name with dots */

/* The fields of an object, those of its bases and of structs in it, too. */
struct flattening {
	struct swz_signature_builder *b;
	const struct swz_signature_wish *wish;
	const char *object; /* what the argument is called */
	struct swz_value_member fields[MOST_FIELDS];
	unsigned count;
	struct swz_value_part texts[SWZ_MOST_TEXTS]; /* the place is open */
	unsigned text_count;
	uint64_t end; /* of the last of them */
	bool cut;
};

static bool begins_path(const char *path, const char *with)
{
	size_t length = strlen(with);

	return strncmp(path, with, length) == 0 &&
	       (!path[length] || path[length] == '.');
}

/* Whether a field, or one in it, is asked for. */
static bool is_wished(const struct flattening *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->wish->field_count; i++)
		if (begins_path(path, f->wish->fields[i]) ||
		    begins_path(f->wish->fields[i], path))
			return true;
	return !f->wish->field_count;
}

/* Of the C++ library: most of what is in them tells users nothing. */
static bool is_of_library(Dwarf_Die *type)
{
	const char *file = dwarf_decl_file(type);

	return file && strstr(file, "/c++/");
}

/* The number of elements of maps, sets, lists and strings of libstdc++; of an
 * atomic and an array what they hold. */
static bool find_inner(Dwarf_Die *of, uint64_t *offset, Dwarf_Die *type,
		       bool *is_size)
{
	static const char *const sizes[] = {
		"_M_t._M_impl._M_node_count", "_M_h._M_element_count",
		"_M_impl._M_node._M_size", "_M_string_length"};
	size_t i;

	*is_size = true;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (swz_die_member(of, sizes[i], offset, type, 0))
			return true;
	*is_size = false;
	return (swz_die_is_named(of, "atomic<") &&
		(swz_die_member(of, "_M_i", offset, type, 0) ||
		 swz_die_member(of, "_M_b._M_p", offset, type, 0))) ||
	       (swz_die_is_named(of, "array<") &&
		swz_die_member(of, "_M_elems", offset, type, 0));
}

/* Text that a field at an offset of the object points at. */
static void add_field_text(struct flattening *f, struct swz_value_part part,
			   const char *path, uint64_t offset)
{
	char name[MOST_PATH];

	if (f->text_count == SWZ_MOST_TEXTS || offset > INT16_MAX)
		return;
	part.offset += (int32_t)offset;
	part.other += (uint16_t)offset;
	part.pointed = 2;
	part.value = (uint16_t)(UINT16_MAX - f->text_count);
	snprintf(name, sizeof(name), "%s.%s", f->object, path);
	part.name = swz_signature_add_text(f->b, name);
	f->texts[f->text_count++] = part;
}

/* How the field's text is read, if it has one. */
static bool find_text(struct flattening *f, Dwarf_Die *type,
		      struct swz_value_part *part)
{
	const struct swz_rule *printer = swz_printer_of(f->b, type);

	*part = (struct swz_value_part){.other = 8};
	if (printer)
		return printer->text &&
		       swz_printer_apply(f->b, printer, type, part);
	if (swz_is_std_string(type)) {
		part->kind = swz_die_size(type) == 8 ? SWZ_PART_OLD_STRING
						     : SWZ_PART_COUNTED;
		return true;
	}
	if (swz_is_std_view(type)) {
		part->kind = SWZ_PART_COUNTED;
		part->offset = 8;
		part->other = 0;
		return true;
	}
	part->kind = SWZ_PART_FIELD;
	return dwarf_tag(type) == DW_TAG_pointer_type &&
	       f->b->types[swz_value_type_add(f->b, type, 1)].kind ==
		       SWZ_TYPE_STRING;
}

/* What is shown of it, where that is not itself: a printer's, or the size. */
static void look_inside(struct flattening *f, Dwarf_Die *type,
			struct swz_value_member *m, Dwarf_Die *shown,
			bool *is_size)
{
	const struct swz_rule *printer = swz_printer_of(f->b, type);
	const char *field = printer ? printer->size ? printer->size
						    : printer->pointer
				    : NULL;
	uint64_t offset;

	*shown = *type;
	*is_size = printer && printer->size;
	if (!swz_tag_is_class(dwarf_tag(type)) ||
	    !(field ? swz_die_member(type, field, &offset, shown, 0)
		    : find_inner(type, &offset, shown, is_size)) ||
	    !swz_die_peel(shown)) {
		*shown = *type;
		*is_size = false;
		return;
	}
	m->offset += (int64_t)offset;
}

/* Few bytes are shown as they are, more as {...}. */
static uint32_t hidden_type(struct swz_signature_builder *b, uint64_t size)
{
	uint32_t type = swz_value_type_new(
		b, 0, size > 16 ? SWZ_TYPE_STRUCT : SWZ_TYPE_OPAQUE, size);

	if (size > 16)
		b->types[type].flags = SWZ_TYPE_IS_CUT;
	return type;
}

static void add_leaf(struct flattening *f, struct swz_value_member m,
		     Dwarf_Die *type, const char *path)
{
	struct swz_value_part text;
	uint64_t offset = (uint64_t)m.offset, end;
	Dwarf_Die shown;
	bool is_size;

	if (!m.bits && find_text(f, type, &text)) {
		text.type = swz_value_type_add(f->b, type, 1);
		add_field_text(f, text, path, offset);
		/* short texts may lie in it */
		if (offset + swz_die_size(type) > f->end)
			f->end = offset + swz_die_size(type);
	}
	look_inside(f, type, &m, &shown, &is_size);
	m.name = swz_signature_add_text(f->b, path);
	if (is_size)
		m.type = swz_size_type(f->b, &shown);
	else if (is_of_library(&shown) &&
		 f->b->types[m.type = swz_value_type_add(f->b, &shown, 1)]
				 .kind == SWZ_TYPE_STRUCT)
		m.type = hidden_type(f->b, swz_die_size(&shown));
	else
		m.type = swz_value_type_add(f->b, &shown, 1);
	end = (uint64_t)m.offset +
	      (m.bits ? (7u + m.bit + m.bits) / 8 : swz_die_size(&shown));
	if (end > f->end)
		f->end = end;
	f->fields[f->count++] = m;
}

/* Whether its fields are shown in place of it. */
static bool is_flattened(struct flattening *f, Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) &&
	       !swz_is_std_string(type) && !swz_is_std_view(type) &&
	       (!is_of_library(type) || swz_die_is_named(type, "pair<")) &&
	       !swz_printer_of(f->b, type);
}

/* BEFORE: what stands before the names of its fields, "" or "a.b.". */
static void flatten(struct flattening *f, Dwarf_Die *of, uint64_t offset,
		    const char *before, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MOST_DEPTH) {
		f->cut = true;
		return;
	}
	if (dwarf_child(of, &child) != 0)
		return;
	do {
		const char *name = dwarf_diename(&child);
		int tag = dwarf_tag(&child);
		struct swz_value_member m;
		char path[MOST_PATH];
		Dwarf_Die type;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    swz_die_number(&child, DW_AT_external, 0) ||
		    !swz_die_type(&child, &type) || !swz_die_peel(&type) ||
		    (name && strncmp(name, "_vptr", 5) == 0))
			continue;
		/* (where a virtual base lies its table says) */
		if (tag == DW_TAG_inheritance) {
			if (swz_die_number(&child, DW_AT_virtuality, 0))
				f->cut = true;
			else if (!is_of_library(&type))
				flatten(f, &type,
					offset +
						swz_die_number(
							&child,
							DW_AT_data_member_location,
							0),
					before, depth + 1);
			continue;
		}
		m = swz_member_place(&child, &type);
		m.offset += (int64_t)offset;
		if (!name && swz_tag_is_class(dwarf_tag(&type))) {
			flatten(f, &type, (uint64_t)m.offset, before,
				depth + 1);
			continue;
		}
		snprintf(path, sizeof(path), "%s%s", before, name ? name : "?");
		if (!is_wished(f, path))
			continue;
		if (f->count == MOST_FIELDS) {
			f->cut = true;
			return;
		}
		if (!m.bits && is_flattened(f, &type)) {
			snprintf(path, sizeof(path), "%s%s.", before, name);
			flatten(f, &type, (uint64_t)m.offset, path, depth + 1);
		} else {
			add_leaf(f, m, &type, path);
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

static bool is_constructor(const struct swz_placing *p, Dwarf_Die *class)
{
	const char *name = dwarf_diename(class);
	size_t length = name ? strcspn(name, "<") : 0;

	return p->function && length && strlen(p->function) == length &&
	       strncmp(p->function, name, length) == 0;
}

void swz_place_dumped(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *pointer)
{
	struct flattening f = {.b = p->b, .wish = p->wish};
	struct swz_value_part keep = part;
	uint64_t size;
	uint32_t name;
	Dwarf_Die to;
	unsigned i;

	if (!swz_die_type(pointer, &to) || !swz_die_peel(&to) ||
	    !swz_tag_is_class(dwarf_tag(&to)) || p->kept == SWZ_MOST_KEPT)
		return;
	size = swz_die_size(&to);
	f.object = "this";
	flatten(&f, &to, 0, "", 0);
	if (!size || !f.count)
		return;
	part.kind = SWZ_PART_MEMORY;
	part.pointed = 1;
	part.type = swz_value_type_new(p->b, 0, SWZ_TYPE_STRUCT, size);
	part.bytes = (uint16_t)(f.end < MOST_BYTES ? f.end : MOST_BYTES);
	p->b->types[part.type].flags = SWZ_TYPE_IS_OBJECT |
				       (f.cut ? SWZ_TYPE_IS_CUT : 0);
	name = swz_signature_add_text(p->b, dwarf_diename(&to));
	p->b->types[part.type].name = name;
	swz_value_type_members(p->b, part.type, f.fields, f.count);
	if (!is_constructor(p, &to)) {
		swz_place_part(p, part);
		for (i = 0; i < f.text_count; i++) {
			f.texts[i].place = part.place;
			swz_place_part(p, f.texts[i]);
		}
	}
	if (p->function && p->function[0] == '~')
		return;
	keep.kind = SWZ_PART_KEEP;
	keep.other = (uint16_t)p->kept;
	swz_place_part(p, keep);
	part.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept++);
	p->returns[p->return_count++] = part;
	for (i = 0; i < f.text_count; i++) {
		f.texts[i].place = part.place;
		p->returns[p->return_count++] = f.texts[i];
	}
}
