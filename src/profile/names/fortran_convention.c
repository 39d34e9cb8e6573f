#include "profile/names/fortran_convention.h"

#include <dwarf.h>
#include <string.h>

#include "profile/names/c_convention.h"
#include "profile/names/dwarf_types.h"
#include "profile/names/entry_places.h"
#include "profile/names/value_types.h"

/* A part whose length is to come. */
#define NO_LENGTH UINT16_MAX

bool swz_is_fortran(Dwarf_Die *function)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* --------------------------------------------------------------- locations */

enum passing { ADDRESS, VALUE, NOWHERE };

static enum passing passing_of(Dwarf_Die *function, Dwarf_Die *argument)
{
	Dwarf_Op *ops;
	size_t count;
	Dwarf_Die own;

	if (!swz_entry_argument(function, argument, &own) ||
	    !swz_entry_location(function, &own, &ops, &count))
		return NOWHERE;
	if (ops[count - 1].atom == DW_OP_deref)
		return ADDRESS;
	return count == 1 && ops[0].atom >= DW_OP_breg0 &&
			       ops[0].atom <= DW_OP_breg31
		       ? ADDRESS
		       : VALUE;
}

/* ------------------------------------------------------------------- texts */

/* The length of the text that is called NAME lies at PLACE. */
static void set_length(struct swz_placing *p, const char *name,
		       const struct swz_value_part *place)
{
	struct swz_signature_builder *b = p->b;
	size_t i;

	for (i = p->first; i < b->part_count; i++) {
		struct swz_value_part *part = &b->parts[i];

		if (part->kind == SWZ_PART_SPAN && part->other == NO_LENGTH &&
		    part->name && strcmp(b->text + part->name, name) == 0)
			part->other = swz_place_number(place);
	}
}

void swz_fortran_end(struct swz_placing *p)
{
	struct swz_signature_builder *b = p->b;
	size_t i;

	for (i = p->first; i < b->part_count; i++) {
		struct swz_value_part *part = &b->parts[i];

		if (part->kind != SWZ_PART_SPAN || part->other != NO_LENGTH)
			continue;
		part->kind = SWZ_PART_PLAIN;
		part->bytes = 8;
		part->type = swz_value_type_new(b, 0, SWZ_TYPE_POINTER, 8);
	}
}

/* Where a function's text is to lie, then its length. */
static void keep_result(struct swz_placing *p, struct swz_value_part part,
			bool is_length)
{
	if (p->kept == SWZ_MOST_KEPT)
		return;
	part.kind = SWZ_PART_KEEP;
	part.other = (uint16_t)p->kept;
	swz_place_part(p, part);
	if (!is_length) {
		p->kept++;
		return;
	}
	p->returns[p->return_count++] = (struct swz_value_part){
		.kind = SWZ_PART_SPAN,
		.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept - 1),
		.other = (uint16_t)(SWZ_PLACE_KEPT + p->kept),
		.value = UINT16_MAX,
		.name = swz_signature_add_text(p->b, "result"),
		.type = swz_value_type_new(p->b, 0, SWZ_TYPE_STRING, 8),
	};
	p->kept++;
}

/* What the compiler has added. False: it is none of that. */
static bool is_added(struct swz_placing *p, Dwarf_Die *argument, int tag)
{
	const char *name = dwarf_diename(argument);
	struct swz_value_part part = {0};

	if (!name || !swz_die_number(argument, DW_AT_artificial, 0) ||
	    (tag != DW_TAG_base_type && strcmp(name, "__result") != 0))
		return false;
	swz_next_integer(p, &part);
	if (strcmp(name, "__result") == 0 || strcmp(name, ".__result") == 0)
		keep_result(p, part, *name == '.');
	else if (*name == '_')
		set_length(p, name + 1, &part);
	return true;
}

/* --------------------------------------------------------------- arguments */

static void add_pointer(struct swz_placing *p, struct swz_value_part part)
{
	part.bytes = 8;
	part.type = swz_value_type_new(p->b, 0, SWZ_TYPE_POINTER, 8);
	swz_place_part(p, part);
}

static void add_array(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	bool described = dwarf_attr(type, DW_AT_data_location, &attribute);

	if (described) /* the data's address is its first word */
		part.kind = SWZ_PART_MEMORY;
	if (described || !swz_die_size(type)) {
		add_pointer(p, part);
		return;
	}
	part.type = swz_value_type_add(p->b, type, 0);
	swz_place_object(p, part, type, true);
}

static void add_referred(struct swz_placing *p, struct swz_value_part part,
			 Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_string_type:
		part.kind = SWZ_PART_SPAN;
		part.other = NO_LENGTH;
		part.type = swz_value_type_new(p->b, 0, SWZ_TYPE_STRING, 8);
		swz_place_part(p, part);
		break;
	case DW_TAG_array_type:
		add_array(p, part, type);
		break;
	case DW_TAG_base_type:
		part.type = swz_value_type_add(p->b, type, 0);
		swz_place_object(p, part, type, true);
		/* (not a complex number) */
		if (p->b->types[part.type].kind != SWZ_TYPE_STRUCT)
			swz_place_written(p, part, type);
		break;
	case DW_TAG_enumeration_type:
	case DW_TAG_structure_type:
		part.type = swz_value_type_add(p->b, type, 0);
		swz_place_object(p, part, type, true);
		break;
	default:
		add_pointer(p, part);
		break;
	}
}

bool swz_fortran_argument(struct swz_placing *p, Dwarf_Die *function,
			  Dwarf_Die *argument)
{
	struct swz_value_part part = {0};
	Dwarf_Die type;
	int tag;

	if (!swz_die_type(argument, &type) || !swz_die_peel(&type))
		return false;
	tag = dwarf_tag(&type);
	if (is_added(p, argument, tag))
		return true;
	switch (passing_of(function, argument)) {
	case VALUE:
		return tag != DW_TAG_string_type && swz_c_argument(p, argument);
	case NOWHERE: /* one register, but for what `value` can change */
		if (tag == DW_TAG_structure_type ||
		    (tag == DW_TAG_base_type &&
		     swz_value_base_kind(&type) != SWZ_TYPE_SIGNED &&
		     swz_value_base_kind(&type) != SWZ_TYPE_BOOL))
			return false;
		p->value++;
		swz_next_integer(p, &part);
		return true;
	default:
		part.value = (uint16_t)p->value++;
		part.name = swz_signature_add_text(p->b,
						   dwarf_diename(argument));
		swz_next_integer(p, &part);
		add_referred(p, part, &type);
		return true;
	}
}
