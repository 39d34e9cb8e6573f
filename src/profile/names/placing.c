#include "profile/names/placing.h"

#include <dwarf.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/library_types.h"
#include "profile/names/value_printers.h"
#include "profile/names/value_types.h"
#include "profile/support/memory.h"

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

/* What is recorded of an object that PART leads to. */
static void fill(struct swz_placing *p, struct swz_value_part *part,
		 Dwarf_Die *type)
{
	const struct swz_rule *printer = swz_printer_of(p->b, type);
	bool fixed = part->place == SWZ_PLACE_STACK && !part->through;
	uint64_t size = swz_die_size(type), offset, length;

	if (printer && !fixed && swz_printer_apply(p->b, printer, type, part))
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

/* So that PART, which its place leads to, can be read at the return. */
static void keep(struct swz_placing *p, struct swz_value_part part)
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
	keep(p, part);
}

void swz_place_written(struct swz_placing *p, struct swz_value_part part,
		       Dwarf_Die *type)
{
	if (p->kept == SWZ_MOST_KEPT)
		return;
	part.kind = SWZ_PART_MEMORY;
	part.bytes = (uint16_t)swz_die_size(type);
	keep(p, part);
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
	fill(p, &part, &to);
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

	fill(p, &object, type);
	if (object.kind != SWZ_PART_MEMORY || object.bytes)
		swz_place_part(p, object);
	place_pointee(p, part, type, entered);
}

/* What a printer shows of an object that a pointer leads to. */
static void add_printed(struct swz_placing *p, struct swz_value_part part,
			Dwarf_Die *type)
{
	const struct swz_rule *printer = swz_printer_of(p->b, type);

	if (!printer || part.place == SWZ_PLACE_STACK ||
	    p->kept == SWZ_MOST_KEPT)
		return;
	part.type = swz_value_type_add(p->b, type, 0);
	if (swz_printer_apply(p->b, printer, type, &part))
		add_pointed(p, part);
}

/* A number or a pointer that the function may write to. */
static void keep_out(struct swz_placing *p, struct swz_value_part part,
		     Dwarf_Die *pointer)
{
	Dwarf_Die to;
	bool constant;
	int tag;

	if (!swz_die_type(pointer, &to))
		return;
	constant = swz_die_is_const(&to);
	if (!swz_die_peel(&to))
		return;
	tag = dwarf_tag(&to);
	if (swz_tag_is_class(tag)) {
		add_printed(p, part, &to);
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
	part.type = swz_value_type_add(p->b, &to, 0);
	part.bytes = (uint16_t)swz_die_size(&to);
	add_pointed(p, part);
}

void swz_place_scalar(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered)
{
	Dwarf_Die to;

	if (swz_tag_is_reference(dwarf_tag(type)) && swz_die_type(type, &to) &&
	    swz_die_peel(&to) && swz_die_size(&to)) {
		part.type = swz_value_type_add(p->b, &to, 0);
		swz_place_object(p, part, &to, entered);
		return;
	}
	if (p->b->types[part.type].kind == SWZ_TYPE_STRING &&
	    dwarf_tag(type) == DW_TAG_pointer_type)
		part.kind = SWZ_PART_STRING;
	swz_place_part(p, part);
	if (entered && dwarf_tag(type) == DW_TAG_pointer_type)
		keep_out(p, part, type);
}
