#include "profile/names/value_types.h"

#include <dwarf.h>
#include <string.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/library_types.h"
#include "profile/support/memory.h"

#define MOST_DEPTH 8          /* of types within types */
#define MOST_MEMBERS 32u      /* of a struct that is shown */
#define MOST_ENUMERATORS 512u /* of an enum */

uint32_t swz_signature_add_text(struct swz_signature_builder *b,
				const char *text)
{
	size_t bytes = text ? strlen(text) + 1 : 0, at;

	if (bytes <= 1)
		return 0;
	if (!b->text_bytes)
		b->text_bytes = 1;
	at = b->text_bytes;
	if (at + bytes + 1 > b->text_capacity) {
		b->text_capacity = 2 * (at + bytes) + 64;
		b->text = swz_reallocate(b->text, b->text_capacity, 1);
	}
	b->text[0] = '\0';
	memcpy(b->text + at, text, bytes);
	b->text_bytes = at + bytes;
	return (uint32_t)at;
}

uint32_t swz_value_type_new(struct swz_signature_builder *b, Dwarf_Off offset,
			    enum swz_type_kind kind, uint64_t bytes)
{
	swz_grow(&b->types, &b->type_capacity, b->type_count,
		 sizeof(*b->types));
	swz_grow(&b->type_offsets, &b->offset_capacity, b->type_count,
		 sizeof(*b->type_offsets));
	b->types[b->type_count] = (struct swz_value_type){
		.kind = (uint8_t)kind, .bytes = (uint32_t)bytes};
	b->type_offsets[b->type_count] = offset;
	return (uint32_t)b->type_count++;
}

enum swz_type_kind swz_value_base_kind(Dwarf_Die *type)
{
	switch (swz_die_number(type, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
		return SWZ_TYPE_BOOL;
	case DW_ATE_float:
		return SWZ_TYPE_FLOAT;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		return swz_die_is_named(type, "char") ? SWZ_TYPE_CHAR
		       : swz_die_number(type, DW_AT_encoding, 0) ==
				       DW_ATE_signed_char
			       ? SWZ_TYPE_SIGNED
			       : SWZ_TYPE_UNSIGNED;
	case DW_ATE_UTF:
		return SWZ_TYPE_CHAR;
	case DW_ATE_signed:
		return SWZ_TYPE_SIGNED;
	case DW_ATE_unsigned:
		return SWZ_TYPE_UNSIGNED;
	default:
		return SWZ_TYPE_OPAQUE;
	}
}

static void add_member(struct swz_signature_builder *b,
		       struct swz_value_member member)
{
	swz_grow(&b->members, &b->member_capacity, b->member_count,
		 sizeof(*b->members));
	b->members[b->member_count++] = member;
}

static bool says_success(const char *name)
{
	size_t length = strlen(name);

	return (length >= 2 && strcmp(name + length - 2, "OK") == 0) ||
	       strcasestr(name, "success") || strcasestr(name, "no_error");
}

static void add_enumerators(struct swz_signature_builder *b, uint32_t type,
			    Dwarf_Die *of)
{
	Dwarf_Die child;
	unsigned count = 0;

	b->types[type].first = (uint32_t)b->member_count;
	if (dwarf_child(of, &child) != 0)
		return;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Sword value = 0;
		struct swz_value_member member = {0};

		if (dwarf_tag(&child) != DW_TAG_enumerator ||
		    !dwarf_attr(&child, DW_AT_const_value, &attribute) ||
		    dwarf_formsdata(&attribute, &value) != 0)
			continue;
		if (!value && says_success(dwarf_diename(&child)))
			b->types[type].flags |= SWZ_TYPE_IS_ERROR;
		member.name = swz_signature_add_text(b, dwarf_diename(&child));
		member.offset = value;
		add_member(b, member);
		count++;
	} while (dwarf_siblingof(&child, &child) == 0 &&
		 count < MOST_ENUMERATORS);
	b->types[type].members = (uint16_t)count;
}

struct swz_value_member swz_member_place(Dwarf_Die *field, Dwarf_Die *type)
{
	Dwarf_Word bits = swz_die_number(field, DW_AT_bit_size, 0);
	Dwarf_Word bit = bits ? swz_die_first_bit(field, type, bits) : 0;
	struct swz_value_member m = {
		.offset = (int64_t)swz_die_number(
			field, DW_AT_data_member_location, 0)};
	uint64_t inner;

	if (bits && bits <= 56) {
		m.offset += (int64_t)(bit / 8);
		m.bit = (uint8_t)(bit % 8);
		m.bits = (uint8_t)bits;
	}
	if (swz_smart_pointer(type, &inner))
		m.offset += (int64_t)inner;
	return m;
}

void swz_value_type_members(struct swz_signature_builder *b, uint32_t type,
			    const struct swz_value_member *members,
			    unsigned count)
{
	unsigned i;

	b->types[type].first = (uint32_t)b->member_count;
	b->types[type].members = (uint16_t)count;
	for (i = 0; i < count; i++)
		add_member(b, members[i]);
}

/* Their types come first, as members of a type follow each other. */
static void add_fields(struct swz_signature_builder *b, uint32_t type,
		       Dwarf_Die *of, unsigned depth)
{
	struct swz_value_member fields[MOST_MEMBERS];
	unsigned count = 0;
	Dwarf_Die child;

	if (depth > 2 || dwarf_child(of, &child) != 0)
		return;
	do {
		struct swz_value_member *m = &fields[count];
		Dwarf_Die member;

		if (dwarf_tag(&child) != DW_TAG_member ||
		    swz_die_number(&child, DW_AT_external, 0) ||
		    !swz_die_type(&child, &member))
			continue;
		*m = swz_member_place(&child, &member);
		m->name = swz_signature_add_text(b, dwarf_diename(&child));
		m->type = swz_value_type_add(b, &member, depth + 1);
		count++;
	} while (dwarf_siblingof(&child, &child) == 0 && count < MOST_MEMBERS);
	swz_value_type_members(b, type, fields, count);
}

/* False: a variant without anything that could be shown. */
static bool read_variant(struct swz_signature_builder *b, Dwarf_Die *variant,
			 unsigned depth, struct swz_value_member *m)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member, type;
	Dwarf_Sword value = 0;

	*m = (struct swz_value_member){0};
	if (dwarf_tag(variant) != DW_TAG_variant ||
	    dwarf_child(variant, &member) != 0 ||
	    dwarf_tag(&member) != DW_TAG_member ||
	    swz_die_number(&member, DW_AT_data_member_location, 0) ||
	    !swz_die_type(&member, &type) || !swz_die_peel(&type))
		return false;
	m->bit = !dwarf_attr(variant, DW_AT_discr_value, &attribute);
	if (!m->bit && dwarf_formsdata(&attribute, &value) != 0)
		return false;
	m->offset = value;
	m->name = swz_signature_add_text(b, dwarf_diename(&member));
	/* it takes the place of the enum itself */
	m->type = swz_value_type_add(b, &type, depth < 2 ? depth : 2);
	return true;
}

/* An enum of Rust with data. */
static uint32_t add_variants(struct swz_signature_builder *b, Dwarf_Die *type,
			     Dwarf_Die *part, unsigned depth)
{
	struct swz_value_member members[MOST_MEMBERS + 1] = {{0}};
	uint32_t made = swz_value_type_new(
		b, dwarf_dieoffset(type), SWZ_TYPE_VARIANT, swz_die_size(type));
	uint32_t name = swz_signature_add_text(b, dwarf_diename(type));
	Dwarf_Die discriminant, of, child;
	Dwarf_Attribute attribute;
	unsigned count = 1;

	b->types[made].name = name;
	if (dwarf_attr(part, DW_AT_discr, &attribute) &&
	    dwarf_formref_die(&attribute, &discriminant) &&
	    swz_die_type(&discriminant, &of)) {
		members[0].offset = (int64_t)swz_die_number(
			&discriminant, DW_AT_data_member_location, 0);
		members[0].type = swz_value_type_add(b, &of, depth + 1);
	} else {
		members[0].type = swz_value_type_new(b, 0, SWZ_TYPE_OPAQUE, 0);
	}
	if (dwarf_child(part, &child) == 0)
		do
			count += read_variant(b, &child, depth,
					      &members[count]);
		while (count <= MOST_MEMBERS &&
		       dwarf_siblingof(&child, &child) == 0);
	swz_value_type_members(b, made, members, count);
	return made;
}

/* A complex number: Fortran's, C's. */
static uint32_t add_complex(struct swz_signature_builder *b, Dwarf_Die *type)
{
	uint64_t half = swz_die_size(type) / 2;
	uint32_t made = swz_value_type_new(b, dwarf_dieoffset(type),
					   SWZ_TYPE_STRUCT, 2 * half);
	uint32_t part = swz_value_type_new(b, 0, SWZ_TYPE_FLOAT, half);
	uint32_t re = swz_signature_add_text(b, "re");
	uint32_t im = swz_signature_add_text(b, "im");

	b->types[made].first = (uint32_t)b->member_count;
	b->types[made].members = 2;
	add_member(b, (struct swz_value_member){.name = re, .type = part});
	add_member(b, (struct swz_value_member){.name = im,
						.type = part,
						.offset = (int64_t)half});
	return made;
}

static uint32_t add_class(struct swz_signature_builder *b, Dwarf_Die *type,
			  unsigned depth)
{
	uint64_t size = swz_die_size(type);
	enum swz_type_kind kind = SWZ_TYPE_STRUCT;
	Dwarf_Die argument, part;
	uint64_t offset;
	uint32_t made, of;

	if (swz_die_variant_part(type, &part))
		return add_variants(b, type, &part, depth);
	if (swz_is_std_string(type) || swz_is_std_view(type) ||
	    swz_is_rust_str(type))
		kind = SWZ_TYPE_STRING;
	else if (swz_die_is_named(type, "vector<") && size == 24)
		kind = SWZ_TYPE_VECTOR;
	else if (swz_smart_pointer(type, &offset))
		kind = SWZ_TYPE_SMART;
	if (kind == SWZ_TYPE_SMART)
		size = 8;
	made = swz_value_type_new(b, dwarf_dieoffset(type), kind, size);
	of = swz_signature_add_text(b, dwarf_diename(type));
	b->types[made].name = of;
	if (kind == SWZ_TYPE_STRUCT) {
		add_fields(b, made, type, depth);
	} else if (kind == SWZ_TYPE_VECTOR &&
		   swz_die_template_type(type, &argument)) {
		of = swz_value_type_add(b, &argument, depth + 1);
		b->types[made].of = of + 1;
	}
	return made;
}

static uint32_t add_pointer(struct swz_signature_builder *b, Dwarf_Die *type)
{
	Dwarf_Off offset = dwarf_dieoffset(type);
	Dwarf_Die to;

	if (!swz_die_type(type, &to) || !swz_die_peel(&to))
		return swz_value_type_new(b, offset, SWZ_TYPE_POINTER, 8);
	if (dwarf_tag(&to) == DW_TAG_subroutine_type)
		return swz_value_type_new(b, offset, SWZ_TYPE_FUNCTION, 8);
	if (dwarf_tag(&to) == DW_TAG_base_type &&
	    swz_value_base_kind(&to) == SWZ_TYPE_CHAR && swz_die_size(&to) == 1)
		return swz_value_type_new(b, offset, SWZ_TYPE_STRING, 8);
	return swz_value_type_new(b, offset, SWZ_TYPE_POINTER, 8);
}

uint32_t swz_value_type_add(struct swz_signature_builder *b, Dwarf_Die *of,
			    unsigned depth)
{
	Dwarf_Die type = *of, element;
	uint32_t i, made, inner;

	if (depth > MOST_DEPTH || !swz_die_peel(&type))
		return swz_value_type_new(b, 0, SWZ_TYPE_OPAQUE, 0);
	for (i = 0; i < b->type_count; i++)
		if (b->type_offsets[i] == dwarf_dieoffset(&type) &&
		    (b->types[i].kind != SWZ_TYPE_STRUCT ||
		     b->types[i].members || depth > 2))
			return i;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		if (swz_die_number(&type, DW_AT_encoding, 0) ==
		    DW_ATE_complex_float)
			return add_complex(b, &type);
		return swz_value_type_new(b, dwarf_dieoffset(&type),
					  swz_value_base_kind(&type),
					  swz_die_size(&type));
	case DW_TAG_enumeration_type:
		made = swz_value_type_new(b, dwarf_dieoffset(&type),
					  SWZ_TYPE_ENUM, swz_die_size(&type));
		add_enumerators(b, made, &type);
		return made;
	case DW_TAG_pointer_type:
		return add_pointer(b, &type);
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return swz_value_type_new(b, dwarf_dieoffset(&type),
					  SWZ_TYPE_REFERENCE, 8);
	case DW_TAG_array_type:
		made = swz_value_type_new(b, dwarf_dieoffset(&type),
					  SWZ_TYPE_ARRAY, swz_die_size(&type));
		if (swz_die_type(&type, &element)) {
			inner = swz_value_type_add(b, &element, depth + 1);
			b->types[made].of = inner + 1;
		}
		return made;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_class(b, &type, depth);
	default:
		return swz_value_type_new(b, dwarf_dieoffset(&type),
					  SWZ_TYPE_OPAQUE, swz_die_size(&type));
	}
}
