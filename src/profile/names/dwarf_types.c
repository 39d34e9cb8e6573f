/* Types of the debug information are peeled (typedefs, qualifiers), classified,
 * and written once each into the profile's own table, so that swizzle-dump
 * prints values without the program's debug information. Depth and count are
 * bounded: a type may contain itself through pointers. */

#include "profile/names/dwarf_types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "profile/names/function_rules.h"
#include "util/memory.h"

/* --- entries of the debug information ------------------------------------ */

#define MOST_DEPTH 8 /* of types within types */

bool swz_die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type);
}

bool swz_die_peel(Dwarf_Die *type)
{
	Dwarf_Die next;
	unsigned i;

	for (i = 0; i < 64; i++) {
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!swz_die_type(type, &next))
				return false;
			*type = next;
			continue;
		default:
			return true;
		}
	}
	return false;
}

bool swz_die_is_const(Dwarf_Die *type)
{
	Dwarf_Die at = *type, next;

	while (dwarf_tag(&at) == DW_TAG_typedef ||
	       dwarf_tag(&at) == DW_TAG_const_type) {
		if (dwarf_tag(&at) == DW_TAG_const_type)
			return true;
		if (!swz_die_type(&at, &next))
			return false;
		at = next;
	}
	return false;
}

Dwarf_Word swz_die_number(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	bool flag;

	if (!dwarf_attr_integrate(die, name, &attribute))
		return otherwise;
	if (dwarf_formudata(&attribute, &value) == 0)
		return value;
	return dwarf_formflag(&attribute, &flag) == 0 ? flag : otherwise;
}

uint64_t swz_die_size(Dwarf_Die *type)
{
	Dwarf_Word size;
	Dwarf_Die to;

	/* whose size need not be said */
	if (dwarf_tag(type) == DW_TAG_ptr_to_member_type)
		return swz_die_type(type, &to) &&
				       dwarf_tag(&to) == DW_TAG_subroutine_type
			       ? 16
			       : 8;
	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool swz_tag_is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

bool swz_tag_is_reference(int tag)
{
	return tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

const char *swz_die_file(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;
	Dwarf_Die unit;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
	    dwarf_formudata(&attribute, &number) != 0 ||
	    !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL,
			  NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

bool swz_die_is_named(Dwarf_Die *type, const char *begin)
{
	const char *name = dwarf_diename(type);

	return name && strncmp(name, begin, strlen(begin)) == 0;
}

static bool die_has_member(Dwarf_Die *type, const char *name)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *of = dwarf_diename(&child);

		if (of && dwarf_tag(&child) == DW_TAG_member &&
		    strcmp(of, name) == 0)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool swz_die_member(Dwarf_Die *of, const char *path, uint64_t *offset,
		    Dwarf_Die *type, unsigned depth)
{
	size_t length = strcspn(path, ".");
	Dwarf_Die at = *of, child;

	if (depth > MOST_DEPTH || !swz_die_peel(&at) ||
	    dwarf_child(&at, &child) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&child);
		uint64_t here = swz_die_number(&child,
					       DW_AT_data_member_location, 0);

		if (dwarf_tag(&child) == DW_TAG_inheritance) {
			if (!swz_die_number(&child, DW_AT_virtuality, 0) &&
			    swz_die_type(&child, type) &&
			    swz_die_member(type, path, offset, type,
					   depth + 1)) {
				*offset += here;
				return true;
			}
			continue;
		}
		if (dwarf_tag(&child) != DW_TAG_member || !name ||
		    swz_die_number(&child, DW_AT_external, 0) ||
		    strlen(name) != length ||
		    strncmp(name, path, length) != 0 ||
		    !swz_die_type(&child, type))
			continue;
		*offset = 0;
		if (path[length] && !swz_die_member(type, path + length + 1,
						    offset, type, depth + 1))
			return false;
		*offset += here;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool swz_die_template_type(Dwarf_Die *type, Dwarf_Die *argument)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
			return swz_die_type(&child, argument);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool swz_die_variant_part(Dwarf_Die *type, Dwarf_Die *part)
{
	if (dwarf_child(type, part) != 0)
		return false;
	do
		if (dwarf_tag(part) == DW_TAG_variant_part)
			return true;
	while (dwarf_siblingof(part, part) == 0);
	return false;
}

Dwarf_Word swz_die_first_bit(Dwarf_Die *field, Dwarf_Die *type, Dwarf_Word bits)
{
	Dwarf_Attribute attribute;
	Dwarf_Die storage = *type;
	Dwarf_Word size;

	if (!dwarf_attr(field, DW_AT_bit_offset, &attribute))
		return swz_die_number(field, DW_AT_data_bit_offset, 0);
	size = swz_die_number(field, DW_AT_byte_size, 0);
	if (!size && swz_die_peel(&storage))
		size = swz_die_size(&storage);
	return 8 * size - swz_die_number(field, DW_AT_bit_offset, 0) - bits;
}

/* --- types of libstdc++, libc++ and Rust's library ----------------------- */

/* NAME<char, ...>; not of char16_t. */
static bool is_of_chars(Dwarf_Die *type, const char *name)
{
	const char *of = dwarf_diename(type);
	size_t length = strlen(name);

	return swz_tag_is_class(dwarf_tag(type)) && of &&
	       strncmp(of, name, length) == 0 &&
	       strncmp(of + length, "<char", 5) == 0 &&
	       strchr(",>", of[length + 5]);
}

bool swz_is_std_string(Dwarf_Die *type)
{
	return is_of_chars(type, "basic_string") &&
	       die_has_member(type, "_M_dataplus");
}

bool swz_is_std_view(Dwarf_Die *type)
{
	return is_of_chars(type, "basic_string_view") &&
	       die_has_member(type, "_M_len") && swz_die_size(type) == 16;
}

bool swz_is_rust_str(Dwarf_Die *type)
{
	return swz_tag_is_class(dwarf_tag(type)) &&
	       (swz_die_is_named(type, "&str") ||
		swz_die_is_named(type, "&mut str")) &&
	       die_has_member(type, "data_ptr") && swz_die_size(type) == 16;
}

bool swz_is_rust_string(Dwarf_Die *type, uint64_t *text, uint64_t *length)
{
	static const char *const texts[] = {
		"vec.buf.inner.ptr.pointer.pointer",
		"vec.buf.ptr.pointer.pointer", /* until 1.8x */
	};
	Dwarf_Die member;
	size_t i;

	if (!swz_tag_is_class(dwarf_tag(type)) ||
	    !swz_die_is_named(type, "String") || swz_die_size(type) != 24 ||
	    !swz_die_member(type, "vec.len", length, &member, 0))
		return false;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (swz_die_member(type, texts[i], text, &member, 0))
			return true;
	return false;
}

bool swz_smart_pointer(Dwarf_Die *type, uint64_t *offset)
{
	uint64_t size = swz_die_size(type);
	bool shared = swz_die_is_named(type, "shared_ptr<");

	if (!swz_tag_is_class(dwarf_tag(type)) || size < 8 ||
	    (!shared && !swz_die_is_named(type, "unique_ptr<")))
		return false;
	*offset = !shared && die_has_member(type, "_M_t") ? size - 8 : 0;
	return *offset < UINT16_MAX;
}

/* --- types as the profile holds them ------------------------------------- */

#define MOST_MEMBERS 32u      /* of a struct that is shown */
#define MOST_BASES 64u        /* of a struct, and of these */
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

/* The place in memory tells entries apart, also where each unit has a file of
 * its own (.dwo). */
static uint64_t key_of(const Dwarf_Die *die)
{
	return (uintptr_t)die->addr;
}

uint32_t swz_value_type_new(struct swz_signature_builder *b, uint64_t key,
			    enum swz_type_kind kind, uint64_t bytes)
{
	swz_grow(&b->types, &b->type_capacity, b->type_count,
		 sizeof(*b->types));
	swz_grow(&b->type_keys, &b->key_capacity, b->type_count,
		 sizeof(*b->type_keys));
	b->types[b->type_count] = (struct swz_value_type){
		.kind = (uint8_t)kind, .bytes = (uint32_t)bytes};
	b->type_keys[b->type_count] = key;
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

/* The fields of a struct, and before them those of its bases. */
struct fields {
	struct swz_value_member of[MOST_MEMBERS];
	unsigned count;
	unsigned bases; /* and theirs */
	bool cut;       /* there are more fields */
};

static void collect_fields(struct swz_signature_builder *b,
			   struct fields *fields, Dwarf_Die *of,
			   uint64_t offset, unsigned depth)
{
	Dwarf_Die child;

	if (dwarf_child(of, &child) != 0)
		return;
	do {
		struct swz_value_member *m = &fields->of[fields->count];
		int tag = dwarf_tag(&child);
		Dwarf_Die member;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    swz_die_number(&child, DW_AT_external, 0) ||
		    !swz_die_type(&child, &member) || !swz_die_peel(&member))
			continue;
		/* (where a virtual base lies its table says) */
		if (fields->count == MOST_MEMBERS ||
		    (tag == DW_TAG_inheritance &&
		     (fields->bases == MOST_BASES ||
		      swz_die_number(&child, DW_AT_virtuality, 0)))) {
			fields->cut = true;
		} else if (tag == DW_TAG_inheritance) {
			fields->bases++;
			collect_fields(
				b, fields, &member,
				offset + swz_die_number(
						 &child,
						 DW_AT_data_member_location, 0),
				depth);
		} else {
			Dwarf_Die named;

			*m = swz_member_place(&child, &member);
			m->offset += (int64_t)offset;
			m->name = swz_signature_add_text(b,
							 dwarf_diename(&child));
			if (!swz_die_type(&child, &named))
				named = member;
			m->type = swz_value_type_named(b, &named, depth + 1);
			fields->count++;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* Their types come first, as members of a type follow each other. */
static void add_fields(struct swz_signature_builder *b, uint32_t type,
		       Dwarf_Die *of, unsigned depth)
{
	struct fields fields = {.count = 0};

	if (depth > 2)
		return;
	collect_fields(b, &fields, of, 0, depth);
	swz_value_type_members(b, type, fields.of, fields.count);
	if (fields.cut)
		b->types[type].flags |= SWZ_TYPE_IS_CUT;
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
	uint32_t made = swz_value_type_new(b, key_of(type), SWZ_TYPE_VARIANT,
					   swz_die_size(type));
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
	uint32_t made = swz_value_type_new(b, key_of(type), SWZ_TYPE_STRUCT,
					   2 * half);
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
	made = swz_value_type_new(b, key_of(type), kind, size);
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
	uint64_t offset = key_of(type);
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
		if (b->type_keys[i] == key_of(&type) &&
		    (b->types[i].kind != SWZ_TYPE_STRUCT ||
		     b->types[i].members || depth > 2))
			return i;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		if (swz_die_number(&type, DW_AT_encoding, 0) ==
		    DW_ATE_complex_float)
			return add_complex(b, &type);
		return swz_value_type_new(b, key_of(&type),
					  swz_value_base_kind(&type),
					  swz_die_size(&type));
	case DW_TAG_enumeration_type:
		made = swz_value_type_new(b, key_of(&type), SWZ_TYPE_ENUM,
					  swz_die_size(&type));
		add_enumerators(b, made, &type);
		inner = swz_signature_add_text(b, dwarf_diename(&type));
		b->types[made].name = inner;
		return made;
	case DW_TAG_pointer_type:
		return add_pointer(b, &type);
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return swz_value_type_new(b, key_of(&type), SWZ_TYPE_REFERENCE,
					  8);
	case DW_TAG_array_type:
		made = swz_value_type_new(b, key_of(&type), SWZ_TYPE_ARRAY,
					  swz_die_size(&type));
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
		return swz_value_type_new(b, key_of(&type), SWZ_TYPE_OPAQUE,
					  swz_die_size(&type));
	}
}

/* The outermost typedef; false: there is none. */
static bool find_typedef(Dwarf_Die *of, Dwarf_Die *found)
{
	unsigned i;

	*found = *of;
	for (i = 0; i < MOST_DEPTH; i++) {
		int tag = dwarf_tag(found);

		if (tag == DW_TAG_typedef)
			return dwarf_diename(found) != NULL;
		if ((tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) ||
		    !swz_die_type(found, found))
			return false;
	}
	return false;
}

static bool is_number(enum swz_type_kind kind)
{
	return kind == SWZ_TYPE_SIGNED || kind == SWZ_TYPE_UNSIGNED ||
	       kind == SWZ_TYPE_ENUM || kind == SWZ_TYPE_POINTER;
}

uint32_t swz_value_type_named(struct swz_signature_builder *b, Dwarf_Die *of,
			      unsigned depth)
{
	uint32_t plain = swz_value_type_add(b, of, depth), made, name, i;
	struct swz_value_type type = b->types[plain];
	Dwarf_Die naming;

	if (!is_number((enum swz_type_kind)type.kind) ||
	    !find_typedef(of, &naming))
		return plain;
	for (i = 0; i < b->type_count; i++)
		if (b->type_keys[i] == key_of(&naming))
			return i;
	made = swz_value_type_new(b, key_of(&naming),
				  (enum swz_type_kind)type.kind, type.bytes);
	name = swz_signature_add_text(b, dwarf_diename(&naming));
	type.name = name;
	b->types[made] = type;
	return made;
}
