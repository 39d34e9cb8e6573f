/* A value is recorded as parts: a register, a word of the stack, or memory that
 * one of these points to. The parts are given out in the order of the
 * arguments; what a function writes through a pointer is read at its return,
 * from a copy of the pointer that is kept at the entry. */

#include <dwarf.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/function_rules.h"
#include "util/memory.h"

/* --- printers of the configuration --------------------------------------- */

/* [printer@TYPE] of the configuration. */

/* That of a class; the last one counts; NULL: there is none. */
static const struct swz_rule *printer_of(const struct swz_signature_builder *b,
					 Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	size_t i = b->config && swz_tag_is_class(dwarf_tag(type)) && name
			   ? b->config->count
			   : 0;

	while (i--)
		if (b->config->rules[i].kind == SWZ_RULE_PRINTER &&
		    fnmatch(b->config->rules[i].pattern, name, 0) == 0)
			return &b->config->rules[i];
	return NULL;
}

/* The type that shows a number as {size = N}; MEMBER: the number's. */
static uint32_t size_type(struct swz_signature_builder *b, Dwarf_Die *member)
{
	uint32_t made = swz_value_type_new(b, 0, SWZ_TYPE_STRUCT,
					   swz_die_size(member));
	struct swz_value_member m = {.name = swz_signature_add_text(b, "size"),
				     .type = swz_value_type_add(b, member, 0)};

	b->types[made].first = (uint32_t)b->member_count;
	b->types[made].members = 1;
	swz_grow(&b->members, &b->member_capacity, b->member_count,
		 sizeof(*b->members));
	b->members[b->member_count++] = m;
	return made;
}

/* How PART, which points at an object, gets what the printer shows. False: the
 * class has no such fields. */
static bool printer_apply(struct swz_signature_builder *b,
			  const struct swz_rule *printer, Dwarf_Die *type,
			  struct swz_value_part *part)
{
	const char *field = printer->text   ? printer->text
			    : printer->size ? printer->size
					    : printer->pointer;
	uint64_t offset, other, bytes;
	Dwarf_Die member;

	if (!swz_die_member(type, field, &offset, &member, 0) ||
	    !swz_die_peel(&member))
		return false;
	bytes = swz_die_size(&member);
	part->offset = (int32_t)offset;
	if (printer->text) {
		part->kind = SWZ_PART_FIELD;
		if (!printer->length)
			return bytes == 8;
		if (bytes != 8 ||
		    !swz_die_member(type, printer->length, &other, &member,
				    0) ||
		    !swz_die_peel(&member) || other > UINT16_MAX)
			return false;
		part->kind = SWZ_PART_COUNTED;
		part->other = (uint16_t)other;
		part->bytes = (uint16_t)swz_die_size(&member);
		return part->bytes == 4 || part->bytes == 8;
	}
	part->kind = SWZ_PART_MEMORY;
	part->bytes = (uint16_t)(bytes <= 16 ? bytes : 16);
	part->type = printer->size ? size_type(b, &member)
				   : swz_value_type_add(b, &member, 0);
	return true;
}

/* --- parts of arguments and results -------------------------------------- */

static void next_on_stack(struct swz_placing *p, struct swz_value_part *part)
{
	part->place = SWZ_PLACE_STACK;
	part->offset = p->stack;
	p->stack += 8;
}

void swz_next_integer(struct swz_placing *p, struct swz_value_part *part)
{
	if (p->integers < 6)
		part->place = (uint8_t)p->integers++;
	else
		next_on_stack(p, part);
}

void swz_next_vector(struct swz_placing *p, struct swz_value_part *part)
{
	if (p->vectors < 8)
		part->place = (uint8_t)(SWZ_PLACE_VECTOR + p->vectors++);
	else
		next_on_stack(p, part);
}

uint16_t swz_place_number(const struct swz_value_part *part)
{
	return part->place == SWZ_PLACE_STACK
		       ? (uint16_t)(SWZ_PLACES + part->offset)
		       : part->place;
}

void swz_place_part(struct swz_placing *p, struct swz_value_part part)
{
	struct swz_signature_builder *b = p->b;

	swz_grow(&b->parts, &b->part_capacity, b->part_count,
		 sizeof(*b->parts));
	b->parts[b->part_count++] = part;
}

/* Texts that fields of an object lead to, at which PART points: they are shown
 * in place of addresses. RETURNED: they are of the return. */
static void place_field_texts(struct swz_placing *p,
			      const struct swz_value_part *part,
			      Dwarf_Die *class, bool returned);

/* Containers and streams of the C++ library: of what is in them nothing tells
 * users anything. */
static bool is_opaque(const struct swz_placing *p, Dwarf_Die *type,
		      uint32_t shown);

void swz_place_fill(struct swz_placing *p, struct swz_value_part *part,
		    Dwarf_Die *type)
{
	const struct swz_rule *printer = printer_of(p->b, type);
	bool fixed = part->place == SWZ_PLACE_STACK && !part->through;
	uint64_t size = swz_die_size(type), offset, length;

	if (printer && !fixed && printer_apply(p->b, printer, type, part))
		return;
	if (swz_is_std_string(type)) {
		part->kind = size == 8 ? SWZ_PART_OLD_STRING : SWZ_PART_COUNTED;
		part->other = 8;
	} else if (swz_is_std_view(type)) {
		part->kind = SWZ_PART_COUNTED;
		if (!fixed)
			part->offset = 8;
		part->other = 0;
	} else if (!fixed && swz_is_rust_string(type, &offset, &length)) {
		part->kind = SWZ_PART_COUNTED;
		part->offset = (int32_t)offset;
		part->other = (uint16_t)length;
	} else {
		part->kind = SWZ_PART_MEMORY;
		if (!fixed && swz_smart_pointer(type, &offset)) {
			part->offset = (int32_t)offset;
			size = 8;
		}
		part->bytes = (uint16_t)(size < SWZ_MOST_OBJECT_BYTES
						 ? size
						 : SWZ_MOST_OBJECT_BYTES);
	}
}

void swz_place_kept(struct swz_placing *p, struct swz_value_part part)
{
	struct swz_value_part place = part;

	part.pointed = 1;
	/* on the stack, the offset is that of the pointer */
	if (part.place == SWZ_PLACE_STACK)
		part.offset = 0;
	else
		place.offset = 0;
	place.through = 0;
	place.kind = SWZ_PART_KEEP;
	place.other = (uint16_t)p->kept;
	swz_place_part(p, place);
	part.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept++);
	p->returns[p->return_count++] = part;
}

/* PART is what a pointer leads to: at the entry, and at the return. */
static void add_pointed(struct swz_placing *p, struct swz_value_part part)
{
	part.pointed = 1;
	if (part.kind == SWZ_PART_PLAIN)
		part.kind = SWZ_PART_MEMORY;
	swz_place_part(p, part);
	swz_place_kept(p, part);
}

void swz_place_written(struct swz_placing *p, struct swz_value_part part,
		       Dwarf_Die *type)
{
	if (p->kept == SWZ_MOST_KEPT)
		return;
	part.kind = SWZ_PART_MEMORY;
	part.bytes = (uint16_t)swz_die_size(type);
	swz_place_kept(p, part);
}

static void place_pointee(struct swz_placing *p, struct swz_value_part part,
			  Dwarf_Die *type, bool entered)
{
	uint64_t offset;
	Dwarf_Die to;

	if (!swz_smart_pointer(type, &offset) ||
	    !swz_die_template_type(type, &to) || !swz_die_peel(&to) ||
	    !swz_die_size(&to) || part.place == SWZ_PLACE_STACK ||
	    (entered && p->kept == SWZ_MOST_KEPT))
		return;
	part.through = (uint16_t)(offset + 1);
	part.type = swz_value_type_add(p->b, &to, 0);
	swz_place_fill(p, &part, &to);
	if (part.kind == SWZ_PART_MEMORY && !part.bytes)
		return;
	if (entered) {
		add_pointed(p, part);
		return;
	}
	part.pointed = 1;
	part.value = UINT16_MAX;
	swz_place_part(p, part);
}

void swz_place_object(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered)
{
	struct swz_value_part object = part;

	swz_place_fill(p, &object, type);
	if (object.kind != SWZ_PART_MEMORY || object.bytes)
		swz_place_part(p, object);
	if (object.kind == SWZ_PART_MEMORY && object.bytes)
		place_field_texts(p, &object, type, false);
	place_pointee(p, part, type, entered);
}

/* Adds what a printer shows of an object that a pointer leads to. */
static void add_printed(struct swz_placing *p, struct swz_value_part part,
			Dwarf_Die *type)
{
	const struct swz_rule *printer = printer_of(p->b, type);

	if (!printer || part.place == SWZ_PLACE_STACK ||
	    p->kept == SWZ_MOST_KEPT)
		return;
	part.type = swz_value_type_add(p->b, type, 0);
	if (printer_apply(p->b, printer, type, &part))
		add_pointed(p, part);
}

/* The return's part, too, of what the function may have written to. */
static void keep_object(struct swz_placing *p, struct swz_value_part part,
			Dwarf_Die *type)
{
	swz_place_kept(p, part);
	part.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept - 1);
	if (part.kind == SWZ_PART_MEMORY)
		place_field_texts(p, &part, type, true);
}

/* Adds what a pointer to a struct leads to, one level of it. Names that begin
 * with an underscore are those of the C library: FILE has no field for users.
 */
static void add_struct(struct swz_placing *p, struct swz_value_part part,
		       Dwarf_Die *to, bool constant)
{
	const char *name = dwarf_diename(to);

	if (p->is_this || dwarf_tag(to) == DW_TAG_union_type ||
	    !swz_die_size(to) || (name && *name == '_'))
		return;
	part.type = swz_value_type_add(p->b, to, 0);
	if (is_opaque(p, to, part.type))
		return;
	swz_place_fill(p, &part, to);
	if (part.kind == SWZ_PART_MEMORY && !part.bytes)
		return;
	part.pointed = 1;
	swz_place_part(p, part);
	if (part.kind == SWZ_PART_MEMORY)
		place_field_texts(p, &part, to, false);
	if (!constant && p->kept < SWZ_MOST_KEPT)
		keep_object(p, part, to);
}

/* A number or a pointer that the function may write to. */
static void keep_out(struct swz_placing *p, struct swz_value_part part,
		     Dwarf_Die *pointer)
{
	Dwarf_Die to, named;
	bool constant;
	int tag;

	if (!swz_die_type(pointer, &to))
		return;
	named = to;
	constant = swz_die_is_const(&to);
	if (!swz_die_peel(&to))
		return;
	tag = dwarf_tag(&to);
	if (swz_tag_is_class(tag)) {
		if (printer_of(p->b, &to))
			add_printed(p, part, &to);
		else
			add_struct(p, part, &to, constant);
		return;
	}
	if (constant)
		return;
	if ((tag != DW_TAG_base_type && tag != DW_TAG_pointer_type &&
	     tag != DW_TAG_enumeration_type) ||
	    p->kept == SWZ_MOST_KEPT || !swz_die_size(&to) ||
	    swz_die_size(&to) > 16 ||
	    (tag == DW_TAG_base_type &&
	     swz_value_base_kind(&to) == SWZ_TYPE_CHAR))
		return;
	part.type = swz_value_type_named(p->b, &named, 0);
	part.bytes = (uint16_t)swz_die_size(&to);
	add_pointed(p, part);
}

/* Adds what a reference leads to, at the return: it may have been written to.
 */
static void keep_referred(struct swz_placing *p, struct swz_value_part part,
			  Dwarf_Die *to)
{
	if (p->kept == SWZ_MOST_KEPT || is_opaque(p, to, part.type) ||
	    p->b->types[part.type].kind == SWZ_TYPE_SMART)
		return;
	swz_place_fill(p, &part, to);
	if (part.kind != SWZ_PART_MEMORY || part.bytes)
		keep_object(p, part, to);
}

void swz_place_scalar(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered)
{
	Dwarf_Die to, named;

	if (swz_tag_is_reference(dwarf_tag(type)) && swz_die_type(type, &to)) {
		bool constant = swz_die_is_const(&to);

		named = to;
		if (swz_die_peel(&to) && swz_die_size(&to)) {
			part.type = swz_value_type_named(p->b, &named, 0);
			swz_place_object(p, part, &to, entered);
			if (entered && !constant &&
			    dwarf_tag(type) == DW_TAG_reference_type)
				keep_referred(p, part, &to);
			return;
		}
	}
	if (p->b->types[part.type].kind == SWZ_TYPE_STRING &&
	    dwarf_tag(type) == DW_TAG_pointer_type)
		part.kind = SWZ_PART_STRING;
	swz_place_part(p, part);
	if (entered && dwarf_tag(type) == DW_TAG_pointer_type)
		keep_out(p, part, type);
}

/* --- fields of objects (dump_this) --------------------------------------- */

/* dump_this: the object of a method, as a list of fields: those of its bases
 * and of structs in it have names with dots. Before a constructor there is no
 * object, nor after a destructor. */

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

/* True if a field, or one in it, is asked for. */
static bool is_wished(const struct flattening *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->wish->field_count; i++)
		if (begins_path(path, f->wish->fields[i]) ||
		    begins_path(f->wish->fields[i], path))
			return true;
	return !f->wish->field_count;
}

/* True for the C++ library's types: most of what is in them tells users
 * nothing. */
static bool is_of_library(Dwarf_Die *type)
{
	const char *file = swz_die_file(type);

	return file && strstr(file, "/c++/");
}

/* More than a pointer to a table of virtual functions. */
static bool has_data(Dwarf_Die *class, unsigned depth)
{
	Dwarf_Die child, base;

	if (depth > MOST_DEPTH || dwarf_child(class, &child) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_member &&
		    !swz_die_number(&child, DW_AT_external, 0) &&
		    (!name || strncmp(name, "_vptr", 5) != 0))
			return true;
		if (dwarf_tag(&child) == DW_TAG_inheritance &&
		    swz_die_type(&child, &base) && swz_die_peel(&base) &&
		    has_data(&base, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
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

static bool is_opaque(const struct swz_placing *p, Dwarf_Die *type,
		      uint32_t shown)
{
	return p->b->types[shown].kind == SWZ_TYPE_STRUCT &&
	       is_of_library(type) && !swz_die_is_named(type, "pair<");
}

/* How the field's text is read, if it has one. */
static bool find_text(struct flattening *f, Dwarf_Die *type,
		      struct swz_value_part *part)
{
	const struct swz_rule *printer = printer_of(f->b, type);

	*part = (struct swz_value_part){.other = 8};
	if (printer)
		return printer->text &&
		       printer_apply(f->b, printer, type, part);
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

#define MOST_FIELD_TEXTS 4u /* of a struct: each costs a system call */

/* Finds the texts that fields of a struct lead to, by their distance from its
 * begin. */
static void find_field_texts(struct flattening *f, Dwarf_Die *class)
{
	Dwarf_Die child, type;

	if (dwarf_child(class, &child) != 0)
		return;
	do {
		const char *name = dwarf_diename(&child);
		struct swz_value_part text;
		struct swz_value_member m;

		if (dwarf_tag(&child) != DW_TAG_member || !name ||
		    swz_die_number(&child, DW_AT_external, 0) ||
		    !swz_die_type(&child, &type) || !swz_die_peel(&type))
			continue;
		m = swz_member_place(&child, &type);
		if (m.bits || !find_text(f, &type, &text))
			continue;
		text.type = swz_value_type_add(f->b, &type, 1);
		add_field_text(f, text, name, (uint64_t)m.offset);
	} while (f->text_count < MOST_FIELD_TEXTS &&
		 dwarf_siblingof(&child, &child) == 0);
}

static void place_field_texts(struct swz_placing *p,
			      const struct swz_value_part *part,
			      Dwarf_Die *class, bool returned)
{
	const size_t room = sizeof(p->returns) / sizeof(p->returns[0]);
	char object[MOST_PATH];
	struct flattening f = {.b = p->b, .object = object};
	unsigned i;

	/* (on the stack the offset is that of the pointer) */
	if (!swz_tag_is_class(dwarf_tag(class)) ||
	    p->b->types[part->type].kind != SWZ_TYPE_STRUCT ||
	    part->place == SWZ_PLACE_STACK || is_opaque(p, class, part->type))
		return;
	snprintf(object, sizeof(object), "%s", p->b->text + part->name);
	find_field_texts(&f, class);
	for (i = 0; i < f.text_count; i++) {
		struct swz_value_part text = f.texts[i];

		text.place = part->place;
		text.through = part->through;
		text.offset += part->offset;
		text.other += (uint16_t)part->offset;
		if (!returned)
			swz_place_part(p, text);
		else if (p->return_count < room)
			p->returns[p->return_count++] = text;
	}
}

void swz_place_value_texts(struct swz_placing *p,
			   const struct swz_value_part *parts, size_t count,
			   Dwarf_Die *type)
{
	char object[MOST_PATH];
	struct flattening f = {.b = p->b, .object = object};
	unsigned i;

	if (!swz_tag_is_class(dwarf_tag(type)) || !count ||
	    p->b->types[parts->type].kind != SWZ_TYPE_STRUCT)
		return;
	snprintf(object, sizeof(object), "%s", p->b->text + parts->name);
	find_field_texts(&f, type);
	for (i = 0; i < f.text_count; i++) {
		struct swz_value_part text = f.texts[i];
		size_t at = (size_t)text.offset / 8;
		bool on_stack = parts->place == SWZ_PLACE_STACK;

		/* a pointer that lies in the object itself */
		if (text.kind != SWZ_PART_FIELD || text.offset % 8 ||
		    (!on_stack && at >= count))
			continue;
		text.kind = SWZ_PART_STRING;
		text.place = parts[on_stack ? 0 : at].place;
		text.offset = on_stack ? parts->offset + text.offset : 0;
		text.bytes = 8;
		text.other = 0;
		swz_place_part(p, text);
	}
}

/* Takes what is shown in place of the object: a printer's text, or the size. */
static void look_inside(struct flattening *f, Dwarf_Die *type,
			struct swz_value_member *m, Dwarf_Die *shown,
			bool *is_size)
{
	const struct swz_rule *printer = printer_of(f->b, type);
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
		m.type = size_type(f->b, &shown);
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

/* True if its fields are shown in place of it. */
static bool is_flattened(struct flattening *f, Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) &&
	       !swz_is_std_string(type) && !swz_is_std_view(type) &&
	       (!is_of_library(type) || swz_die_is_named(type, "pair<")) &&
	       !printer_of(f->b, type);
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
			if (swz_die_number(&child, DW_AT_virtuality, 0) ||
			    (is_of_library(&type) && has_data(&type, 0)))
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

/* Returns the rest behind an argument's name in a path: "" or what begins with
 * . or ->; NULL: the path is of another one. */
static const char *behind_name(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(path, name, length) != 0 ||
	    (path[length] && path[length] != '.' && path[length] != '-'))
		return NULL;
	return path + length;
}

bool swz_is_dumped(const struct swz_placing *p, const char *name)
{
	size_t i;

	if (!p->wish || !p->wish->object || p->dumped || !name)
		return false;
	for (i = 0; i < p->wish->field_count; i++)
		if (behind_name(p->wish->fields[i], name))
			return true;
	return false;
}

/* Picks the fields of the argument NAME, without it, from those that are asked
 * for; all where NAME stands alone. FIELDS has room for as many. */
static struct swz_signature_wish own_fields(
	const struct swz_signature_wish *wish, const char *name, char **fields)
{
	struct swz_signature_wish own = *wish;
	size_t i;

	own.fields = fields;
	own.field_count = 0;
	for (i = 0; i < wish->field_count; i++) {
		const char *rest = behind_name(wish->fields[i], name);

		if (!rest)
			continue;
		if (!*rest) {
			own.field_count = 0;
			return own;
		}
		fields[own.field_count++] =
			(char *)(uintptr_t)(rest + (*rest == '.' ? 1 : 2));
	}
	return own;
}

bool swz_place_dumped(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *pointer, const char *argument)
{
	struct flattening f = {.b = p->b, .wish = p->wish};
	char *fields[MOST_FIELDS];
	struct swz_signature_wish own;
	struct swz_value_part keep = part;
	uint64_t size;
	uint32_t name;
	Dwarf_Die to;
	unsigned i;

	if (!swz_die_type(pointer, &to) || !swz_die_peel(&to) ||
	    !swz_tag_is_class(dwarf_tag(&to)) || p->kept == SWZ_MOST_KEPT)
		return false;
	size = swz_die_size(&to);
	f.object = argument;
	if (p->wish->field_count <= MOST_FIELDS && swz_is_dumped(p, argument)) {
		own = own_fields(p->wish, argument, fields);
		f.wish = &own;
	}
	flatten(&f, &to, 0, "", 0);
	if (!size || !f.count)
		return false;
	p->dumped = true;
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
		return true;
	keep.kind = SWZ_PART_KEEP;
	keep.other = (uint16_t)p->kept;
	swz_place_part(p, keep);
	part.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept++);
	p->returns[p->return_count++] = part;
	for (i = 0; i < f.text_count; i++) {
		f.texts[i].place = part.place;
		p->returns[p->return_count++] = f.texts[i];
	}
	return true;
}
