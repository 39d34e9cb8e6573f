#include "profile/names/value_types.h"

#include <dwarf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define MOST_DEPTH 8          /* of types within types */
#define MOST_MEMBERS 32u      /* of a struct that is shown */
#define MOST_ENUMERATORS 512u /* of an enum */
#define MOST_MEMORY 128u      /* bytes of an object */
#define MOST_OBJECT 1024u     /* of one with dump_this */
#define MOST_PARTS 64u

void swz_signature_builder_free(struct swz_signature_builder *b)
{
	free(b->signatures);
	free(b->parts);
	free(b->types);
	free(b->type_offsets);
	free(b->members);
	free(b->text);
	free(b->checks);
}

static uint32_t add_text(struct swz_signature_builder *b, const char *text)
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

/* ------------------------------------------------------------------ entries */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type);
}

/* Without names of types and qualifiers. False: void. */
static bool peel(Dwarf_Die *type)
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
			if (!type_of(type, &next))
				return false;
			*type = next;
			continue;
		default:
			return true;
		}
	}
	return false;
}

static bool is_const(Dwarf_Die *type)
{
	Dwarf_Die at = *type, next;

	while (dwarf_tag(&at) == DW_TAG_typedef ||
	       dwarf_tag(&at) == DW_TAG_const_type) {
		if (dwarf_tag(&at) == DW_TAG_const_type)
			return true;
		if (!type_of(&at, &next))
			return false;
		at = next;
	}
	return false;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise)
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

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

static bool is_named(Dwarf_Die *type, const char *begin)
{
	const char *name = dwarf_diename(type);

	return name && strncmp(name, begin, strlen(begin)) == 0;
}

static bool has_member(Dwarf_Die *type, const char *name)
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

/* libstdc++'s: of its two layouts the older is a pointer alone. */
static bool is_string(Dwarf_Die *type)
{
	return is_class(dwarf_tag(type)) &&
	       is_named(type, "basic_string<char") &&
	       has_member(type, "_M_dataplus");
}

/* Rust's: a pointer, then the length. */
static bool is_str(Dwarf_Die *type)
{
	return is_class(dwarf_tag(type)) &&
	       (is_named(type, "&str") || is_named(type, "&mut str")) &&
	       has_member(type, "data_ptr") && size_of(type) == 16;
}

static bool is_view(Dwarf_Die *type)
{
	return is_class(dwarf_tag(type)) &&
	       is_named(type, "basic_string_view<char") &&
	       has_member(type, "_M_len") && size_of(type) == 16;
}

/* ---------------------------------------------------------------- printers */

static uint32_t add_type(struct swz_signature_builder *b, Dwarf_Die *of,
			 unsigned depth);
static uint32_t size_type(struct swz_signature_builder *b, Dwarf_Die *member);

/* The member that PATH names, "a.b": where it lies, and its type. */
static bool find_member(Dwarf_Die *of, const char *path, uint64_t *offset,
			Dwarf_Die *type, unsigned depth)
{
	size_t length = strcspn(path, ".");
	Dwarf_Die at = *of, child;

	if (depth > MOST_DEPTH || !peel(&at) || dwarf_child(&at, &child) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&child);
		uint64_t here = number_of(&child, DW_AT_data_member_location,
					  0);

		if (dwarf_tag(&child) == DW_TAG_inheritance) {
			if (!number_of(&child, DW_AT_virtuality, 0) &&
			    type_of(&child, type) &&
			    find_member(type, path, offset, type, depth + 1)) {
				*offset += here;
				return true;
			}
			continue;
		}
		if (dwarf_tag(&child) != DW_TAG_member || !name ||
		    number_of(&child, DW_AT_external, 0) ||
		    strlen(name) != length ||
		    strncmp(name, path, length) != 0 || !type_of(&child, type))
			continue;
		*offset = 0;
		if (path[length] && !find_member(type, path + length + 1,
						 offset, type, depth + 1))
			return false;
		*offset += here;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* That of the configuration for a class; the last one counts. */
static const struct swz_rule *printer_of(const struct swz_signature_builder *b,
					 Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	size_t i = b->config && is_class(dwarf_tag(type)) && name
			   ? b->config->count
			   : 0;

	while (i--)
		if (b->config->rules[i].kind == SWZ_RULE_PRINTER &&
		    fnmatch(b->config->rules[i].pattern, name, 0) == 0)
			return &b->config->rules[i];
	return NULL;
}

/* How PART, which points at an object, gets what the printer shows. False: the
 * class has no such fields. */
static bool apply_printer(struct swz_signature_builder *b,
			  const struct swz_rule *printer, Dwarf_Die *type,
			  struct swz_value_part *part)
{
	const char *field = printer->text   ? printer->text
			    : printer->size ? printer->size
					    : printer->pointer;
	uint64_t offset, other, bytes;
	Dwarf_Die member;

	if (!find_member(type, field, &offset, &member, 0) || !peel(&member))
		return false;
	bytes = size_of(&member);
	part->offset = (int32_t)offset;
	if (printer->text) {
		part->kind = SWZ_PART_FIELD;
		if (!printer->length)
			return bytes == 8;
		if (bytes != 8 ||
		    !find_member(type, printer->length, &other, &member, 0) ||
		    !peel(&member) || other > UINT16_MAX)
			return false;
		part->kind = SWZ_PART_COUNTED;
		part->other = (uint16_t)other;
		part->bytes = (uint16_t)size_of(&member);
		return part->bytes == 4 || part->bytes == 8;
	}
	part->kind = SWZ_PART_MEMORY;
	part->bytes = (uint16_t)(bytes <= 16 ? bytes : 16);
	part->type = printer->size ? size_type(b, &member)
				   : add_type(b, &member, 0);
	return true;
}

/* The first bit of a bit-field: since DWARF 4 from the beginning of the struct;
 * before that from the upper end of a unit of storage. */
static Dwarf_Word first_bit(Dwarf_Die *field, Dwarf_Die *type, Dwarf_Word bits)
{
	Dwarf_Attribute attribute;
	Dwarf_Die storage = *type;
	Dwarf_Word size;

	if (!dwarf_attr(field, DW_AT_bit_offset, &attribute))
		return number_of(field, DW_AT_data_bit_offset, 0);
	size = number_of(field, DW_AT_byte_size, 0);
	if (!size && peel(&storage))
		size = size_of(&storage);
	return 8 * size - number_of(field, DW_AT_bit_offset, 0) - bits;
}

/* -------------------------------------------------------------- the classes */

enum abi_class { NONE, INTEGER, SSE, MEMORY, X87 };

static enum abi_class merge(enum abi_class a, enum abi_class b)
{
	if (a == b || b == NONE)
		return a;
	if (a == NONE)
		return b;
	if (a == MEMORY || b == MEMORY || a == X87 || b == X87)
		return MEMORY;
	return a == INTEGER || b == INTEGER ? INTEGER : SSE;
}

/* The classes of the two halves of what lies at OFFSET. */
static void classify(Dwarf_Die *of, uint64_t offset, enum abi_class halves[2],
		     unsigned depth)
{
	Dwarf_Die type = *of, child, element;
	uint64_t size, i, count, each;
	enum abi_class where = INTEGER;
	Dwarf_Word encoding;

	if (depth > MOST_DEPTH || !peel(&type)) {
		halves[0] = MEMORY;
		return;
	}
	size = size_of(&type);
	if (offset + size > 16) {
		halves[0] = MEMORY;
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		encoding = number_of(&type, DW_AT_encoding, 0);
		if (encoding == DW_ATE_float)
			where = size == 16 ? X87 : SSE;
		else if (encoding == DW_ATE_complex_float)
			where = SSE;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (dwarf_child(&type, &child) != 0)
			return;
		do {
			Dwarf_Die member;
			int tag = dwarf_tag(&child);
			Dwarf_Word at = number_of(
				&child, DW_AT_data_member_location, 0);
			Dwarf_Word bit = 0;

			if ((tag != DW_TAG_member &&
			     tag != DW_TAG_inheritance) ||
			    number_of(&child, DW_AT_external, 0) ||
			    !type_of(&child, &member))
				continue;
			if (number_of(&child, DW_AT_bit_size, 0)) {
				bit = first_bit(
					&child, &member,
					number_of(&child, DW_AT_bit_size, 0));
				at += bit / 8;
				if (offset + at < 16)
					halves[(offset + at) / 8] = merge(
						halves[(offset + at) / 8],
						INTEGER);
				continue;
			}
			classify(&member, offset + at, halves, depth + 1);
		} while (dwarf_siblingof(&child, &child) == 0);
		return;
	case DW_TAG_array_type:
		if (!type_of(&type, &element))
			return;
		if (number_of(&type, DW_AT_GNU_vector, 0)) {
			where = SSE;
			break;
		}
		each = size_of(&element);
		count = each ? size / each : 0;
		for (i = 0; i < count && i < 16; i++)
			classify(&element, offset + i * each, halves,
				 depth + 1);
		return;
	default:
		break;
	}
	if (!size)
		return;
	halves[offset / 8] = merge(halves[offset / 8], where);
	if ((offset + size - 1) / 8 != offset / 8)
		halves[(offset + size - 1) / 8] = merge(
			halves[(offset + size - 1) / 8], where);
}

/* Whether it copies, moves or destroys objects of the class in a way of its
 * own. */
static bool is_special(Dwarf_Die *function, Dwarf_Die *of)
{
	const char *name = dwarf_diename(function);
	Dwarf_Die child, type;

	if (!name || number_of(function, DW_AT_artificial, 0) ||
	    number_of(function, DW_AT_defaulted, 0) == DW_DEFAULTED_in_class)
		return false;
	if (*name == '~')
		return true;
	if (strncmp(name, dwarf_diename(of), strcspn(name, "<")) != 0 ||
	    dwarf_child(function, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    number_of(&child, DW_AT_artificial, 0) ||
		    !type_of(&child, &type))
			continue;
		return (dwarf_tag(&type) == DW_TAG_reference_type ||
			dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
		       type_of(&type, &type) && peel(&type) &&
		       dwarf_dieoffset(&type) == dwarf_dieoffset(of);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool is_nontrivial(Dwarf_Die *type, unsigned depth)
{
	Dwarf_Die child, of;

	if (depth > MOST_DEPTH || !is_class(dwarf_tag(type)) ||
	    !dwarf_diename(type) || dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&child);

		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (number_of(&child, DW_AT_virtuality, 0) ||
			    is_special(&child, type))
				return true;
			break;
		case DW_TAG_inheritance:
			if (number_of(&child, DW_AT_virtuality, 0))
				return true;
			/* fall through */
		case DW_TAG_member:
			if (name && strncmp(name, "_vptr", 5) == 0)
				return true;
			if (!number_of(&child, DW_AT_external, 0) &&
			    type_of(&child, &of) && peel(&of) &&
			    is_nontrivial(&of, depth + 1))
				return true;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Objects with a copy constructor or a destructor of their own are passed by
 * the address of a copy. Clang says which those are. */
static bool is_by_address(Dwarf_Die *type)
{
	Dwarf_Word how;

	if (!is_class(dwarf_tag(type)))
		return false;
	how = number_of(type, DW_AT_calling_convention, 0);
	if (how == DW_CC_pass_by_reference || how == DW_CC_pass_by_value)
		return how == DW_CC_pass_by_reference;
	return is_nontrivial(type, 0);
}

/* ------------------------------------------------------------------- types */

static uint32_t new_type(struct swz_signature_builder *b, Dwarf_Off offset,
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

static enum swz_type_kind base_kind(Dwarf_Die *type)
{
	switch (number_of(type, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
		return SWZ_TYPE_BOOL;
	case DW_ATE_float:
		return SWZ_TYPE_FLOAT;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		return is_named(type, "char") ? SWZ_TYPE_CHAR
		       : number_of(type, DW_AT_encoding, 0) ==
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
		member.name = add_text(b, dwarf_diename(&child));
		member.offset = value;
		swz_grow(&b->members, &b->member_capacity, b->member_count,
			 sizeof(*b->members));
		b->members[b->member_count++] = member;
		count++;
	} while (dwarf_siblingof(&child, &child) == 0 &&
		 count < MOST_ENUMERATORS);
	b->types[type].members = (uint16_t)count;
}

static bool is_wished(const struct swz_signature_wish *wish, const char *name)
{
	size_t i;

	if (!wish || !wish->field_count)
		return true;
	for (i = 0; name && i < wish->field_count; i++)
		if (strcmp(wish->fields[i], name) == 0)
			return true;
	return false;
}

/* Their types come first, as members of a type follow each other. */
static void add_fields(struct swz_signature_builder *b, uint32_t type,
		       Dwarf_Die *of, unsigned depth,
		       const struct swz_signature_wish *wish)
{
	struct swz_value_member fields[MOST_MEMBERS];
	unsigned count = 0, i;
	Dwarf_Die child;

	if (depth > 2 || dwarf_child(of, &child) != 0)
		return;
	do {
		struct swz_value_member *m = &fields[count];
		Dwarf_Die member;
		Dwarf_Word bits, bit;

		if (dwarf_tag(&child) != DW_TAG_member ||
		    number_of(&child, DW_AT_external, 0) ||
		    !type_of(&child, &member) ||
		    !is_wished(wish, dwarf_diename(&child)))
			continue;
		memset(m, 0, sizeof(*m));
		m->offset = (int64_t)number_of(&child,
					       DW_AT_data_member_location, 0);
		bits = number_of(&child, DW_AT_bit_size, 0);
		bit = bits ? first_bit(&child, &member, bits) : 0;
		if (bits && bits <= 56) {
			m->offset += (int64_t)(bit / 8);
			m->bit = (uint8_t)(bit % 8);
			m->bits = (uint8_t)bits;
		}
		m->name = add_text(b, dwarf_diename(&child));
		m->type = add_type(b, &member, depth + 1);
		count++;
	} while (dwarf_siblingof(&child, &child) == 0 && count < MOST_MEMBERS);
	b->types[type].first = (uint32_t)b->member_count;
	b->types[type].members = (uint16_t)count;
	for (i = 0; i < count; i++) {
		swz_grow(&b->members, &b->member_capacity, b->member_count,
			 sizeof(*b->members));
		b->members[b->member_count++] = fields[i];
	}
}

/* {size = N} */
static uint32_t size_type(struct swz_signature_builder *b, Dwarf_Die *member)
{
	uint32_t made = new_type(b, 0, SWZ_TYPE_STRUCT, size_of(member));
	struct swz_value_member m = {.name = add_text(b, "size"),
				     .type = add_type(b, member, 0)};

	b->types[made].first = (uint32_t)b->member_count;
	b->types[made].members = 1;
	swz_grow(&b->members, &b->member_capacity, b->member_count,
		 sizeof(*b->members));
	b->members[b->member_count++] = m;
	return made;
}

/* The first template argument that is a type. */
static bool template_type(Dwarf_Die *type, Dwarf_Die *argument)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
			return type_of(&child, argument);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static uint32_t add_class(struct swz_signature_builder *b, Dwarf_Die *type,
			  unsigned depth)
{
	uint64_t size = size_of(type);
	enum swz_type_kind kind = SWZ_TYPE_STRUCT;
	Dwarf_Die argument;
	uint32_t made, of;

	if (is_string(type) || is_view(type) || is_str(type))
		kind = SWZ_TYPE_STRING;
	else if (is_named(type, "vector<") && size == 24)
		kind = SWZ_TYPE_VECTOR;
	else if (is_named(type, "unique_ptr<") || is_named(type, "shared_ptr<"))
		kind = SWZ_TYPE_SMART;
	if (kind == SWZ_TYPE_SMART)
		size = 8;
	made = new_type(b, dwarf_dieoffset(type), kind, size);
	of = add_text(b, dwarf_diename(type));
	b->types[made].name = of;
	if (kind == SWZ_TYPE_STRUCT) {
		add_fields(b, made, type, depth, NULL);
	} else if (kind == SWZ_TYPE_VECTOR && template_type(type, &argument)) {
		of = add_type(b, &argument, depth + 1);
		b->types[made].of = of + 1;
	}
	return made;
}

static uint32_t add_pointer(struct swz_signature_builder *b, Dwarf_Die *type)
{
	Dwarf_Off offset = dwarf_dieoffset(type);
	Dwarf_Die to;

	if (!type_of(type, &to) || !peel(&to))
		return new_type(b, offset, SWZ_TYPE_POINTER, 8);
	if (dwarf_tag(&to) == DW_TAG_subroutine_type)
		return new_type(b, offset, SWZ_TYPE_FUNCTION, 8);
	if (dwarf_tag(&to) == DW_TAG_base_type &&
	    base_kind(&to) == SWZ_TYPE_CHAR && size_of(&to) == 1)
		return new_type(b, offset, SWZ_TYPE_STRING, 8);
	return new_type(b, offset, SWZ_TYPE_POINTER, 8);
}

static uint32_t add_type(struct swz_signature_builder *b, Dwarf_Die *of,
			 unsigned depth)
{
	Dwarf_Die type = *of, element;
	uint32_t i, made, inner;

	if (depth > MOST_DEPTH || !peel(&type))
		return new_type(b, 0, SWZ_TYPE_OPAQUE, 0);
	for (i = 0; i < b->type_count; i++)
		if (b->type_offsets[i] == dwarf_dieoffset(&type) &&
		    (b->types[i].kind != SWZ_TYPE_STRUCT ||
		     b->types[i].members || depth > 2))
			return i;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		return new_type(b, dwarf_dieoffset(&type), base_kind(&type),
				size_of(&type));
	case DW_TAG_enumeration_type:
		made = new_type(b, dwarf_dieoffset(&type), SWZ_TYPE_ENUM,
				size_of(&type));
		add_enumerators(b, made, &type);
		return made;
	case DW_TAG_pointer_type:
		return add_pointer(b, &type);
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return new_type(b, dwarf_dieoffset(&type), SWZ_TYPE_REFERENCE,
				8);
	case DW_TAG_array_type:
		made = new_type(b, dwarf_dieoffset(&type), SWZ_TYPE_ARRAY,
				size_of(&type));
		if (type_of(&type, &element)) {
			inner = add_type(b, &element, depth + 1);
			b->types[made].of = inner + 1;
		}
		return made;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_class(b, &type, depth);
	default:
		return new_type(b, dwarf_dieoffset(&type), SWZ_TYPE_OPAQUE,
				size_of(&type));
	}
}

/* ------------------------------------------------------------------- parts */

/* How far the registers and the stack have been given out. */
struct placing {
	struct swz_signature_builder *b;
	unsigned integers, vectors, kept, value;
	int32_t stack;
	size_t first; /* of the parts */
	bool splits_wide, rust;
	struct swz_value_part returns[SWZ_MOST_KEPT]; /* out-parameters */
	unsigned return_count;
	const struct swz_signature_wish *wish; /* or NULL */
};

static void add_part(struct placing *p, struct swz_value_part part)
{
	struct swz_signature_builder *b = p->b;

	swz_grow(&b->parts, &b->part_capacity, b->part_count,
		 sizeof(*b->parts));
	b->parts[b->part_count++] = part;
}

/* Memory, or text in it, at what PART's place points at. */
static void point_at(struct placing *p, struct swz_value_part part,
		     Dwarf_Die *type)
{
	const struct swz_rule *printer = printer_of(p->b, type);
	uint64_t size = size_of(type);

	if (printer && part.place != SWZ_PLACE_STACK &&
	    apply_printer(p->b, printer, type, &part)) {
		add_part(p, part);
		return;
	}
	if (is_string(type)) {
		part.kind = size == 8 ? SWZ_PART_OLD_STRING : SWZ_PART_COUNTED;
		part.other = 8;
	} else if (is_view(type)) {
		part.kind = SWZ_PART_COUNTED;
		if (part.place != SWZ_PLACE_STACK)
			part.offset = 8;
		part.other = 0;
	} else {
		part.kind = SWZ_PART_MEMORY;
		if (is_named(type, "unique_ptr<") ||
		    is_named(type, "shared_ptr<"))
			size = 8;
		part.bytes = (uint16_t)(size < MOST_MEMORY ? size
							   : MOST_MEMORY);
	}
	if (part.kind != SWZ_PART_MEMORY || part.bytes)
		add_part(p, part);
}

/* PART is what a pointer leads to: at the entry, and at the return. */
static void add_pointed(struct placing *p, struct swz_value_part part)
{
	struct swz_value_part keep = part;

	part.pointed = 1;
	if (part.kind == SWZ_PART_PLAIN)
		part.kind = SWZ_PART_MEMORY;
	add_part(p, part);
	/* on the stack, the offset is that of the pointer */
	if (part.place == SWZ_PLACE_STACK)
		part.offset = 0;
	else
		keep.offset = 0;
	keep.kind = SWZ_PART_KEEP;
	keep.other = (uint16_t)p->kept;
	add_part(p, keep);
	part.place = (uint8_t)(SWZ_PLACE_KEPT + p->kept++);
	p->returns[p->return_count++] = part;
}

/* What a printer shows of an object that a pointer leads to. */
static void add_printed(struct placing *p, struct swz_value_part part,
			Dwarf_Die *type)
{
	const struct swz_rule *printer = printer_of(p->b, type);

	if (!printer || part.place == SWZ_PLACE_STACK ||
	    p->kept == SWZ_MOST_KEPT)
		return;
	part.type = add_type(p->b, type, 0);
	if (apply_printer(p->b, printer, type, &part))
		add_pointed(p, part);
}

/* dump_this: the object of a method. */
static void add_object(struct placing *p, struct swz_value_part part,
		       Dwarf_Die *pointer)
{
	uint64_t size;
	Dwarf_Die to;

	if (!type_of(pointer, &to) || !peel(&to) || !is_class(dwarf_tag(&to)) ||
	    p->kept == SWZ_MOST_KEPT)
		return;
	size = size_of(&to);
	if (!size)
		return;
	part.type = new_type(p->b, 0, SWZ_TYPE_STRUCT, size);
	add_fields(p->b, part.type, &to, 0, p->wish);
	part.bytes = (uint16_t)(size < MOST_OBJECT ? size : MOST_OBJECT);
	add_pointed(p, part);
}

/* A number or a pointer that the function may write to. */
static void keep_out(struct placing *p, struct swz_value_part part,
		     Dwarf_Die *pointer)
{
	Dwarf_Die to;
	bool constant;
	int tag;

	if (!type_of(pointer, &to))
		return;
	constant = is_const(&to);
	if (!peel(&to))
		return;
	tag = dwarf_tag(&to);
	if (is_class(tag)) {
		add_printed(p, part, &to);
		return;
	}
	if (constant)
		return;
	if ((tag != DW_TAG_base_type && tag != DW_TAG_pointer_type &&
	     tag != DW_TAG_enumeration_type) ||
	    p->kept == SWZ_MOST_KEPT || !size_of(&to) || size_of(&to) > 16 ||
	    (tag == DW_TAG_base_type && base_kind(&to) == SWZ_TYPE_CHAR))
		return;
	part.type = add_type(p->b, &to, 0);
	part.bytes = (uint16_t)size_of(&to);
	add_pointed(p, part);
}

static bool is_reference(int tag)
{
	return tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

/* A value of class INTEGER that is one register or word, at PART's place. */
static void add_scalar(struct placing *p, struct swz_value_part part,
		       Dwarf_Die *type, bool entered)
{
	Dwarf_Die to;

	if (is_reference(dwarf_tag(type)) && type_of(type, &to) && peel(&to) &&
	    size_of(&to)) {
		part.type = add_type(p->b, &to, 0);
		point_at(p, part, &to);
		return;
	}
	if (p->b->types[part.type].kind == SWZ_TYPE_STRING &&
	    dwarf_tag(type) == DW_TAG_pointer_type)
		part.kind = SWZ_PART_STRING;
	add_part(p, part);
	if (entered && dwarf_tag(type) == DW_TAG_pointer_type)
		keep_out(p, part, type);
}

static void on_stack(struct placing *p, struct swz_value_part part,
		     Dwarf_Die *type, uint64_t size, bool aligned)
{
	if (aligned)
		p->stack = (p->stack + 15) & ~15;
	part.place = SWZ_PLACE_STACK;
	part.offset = p->stack;
	part.bytes = (uint16_t)(size < MOST_MEMORY ? size : MOST_MEMORY);
	if (size <= 8)
		add_scalar(p, part, type, true);
	else
		add_part(p, part);
	p->stack += (int32_t)((size + 7) & ~(uint64_t)7);
}

static bool is_rust(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Rust;
}

/* Rust's own convention is not that of C: parts of an object may have a
 * register each, and one of more than 16 bytes is passed by its address. This
 * much is the same: numbers, pointers, and two words. */
static bool is_plain_in_rust(Dwarf_Die *type)
{
	Dwarf_Die child, of;
	unsigned words = 0;

	if (!is_class(dwarf_tag(type)))
		return dwarf_tag(type) == DW_TAG_base_type ||
		       dwarf_tag(type) == DW_TAG_pointer_type;
	if (size_of(type) != 16 || dwarf_child(type, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_variant_part)
			return false;
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		if (!type_of(&child, &of) || !peel(&of) || size_of(&of) != 8 ||
		    (dwarf_tag(&of) != DW_TAG_base_type &&
		     dwarf_tag(&of) != DW_TAG_pointer_type) ||
		    number_of(&of, DW_AT_encoding, 0) == DW_ATE_float)
			return false;
		words++;
	} while (dwarf_siblingof(&child, &child) == 0);
	return words == 2;
}

/* Before its version 18 clang has rules of its own for a number of 128 bits
 * that does not fit in registers. */
static bool splits_wide(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *producer, *at;
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    !dwarf_attr(&unit, DW_AT_producer, &attribute) ||
	    !(producer = dwarf_formstring(&attribute)) ||
	    !(at = strstr(producer, "clang version ")))
		return false;
	return strtoul(at + strlen("clang version "), NULL, 10) < 18;
}

/* False: from here on it is not known where arguments lie. */
static bool add_argument(struct placing *p, Dwarf_Die *argument)
{
	enum abi_class halves[2] = {NONE, NONE};
	unsigned integers = 0, vectors = 0, i;
	struct swz_value_part part = {0};
	Dwarf_Die type;
	uint64_t size;

	if (!type_of(argument, &type) || !peel(&type))
		return false;
	size = size_of(&type);
	part.value = (uint16_t)p->value++;
	part.name = add_text(p->b, dwarf_diename(argument));
	part.type = add_type(p->b, &type, 0);
	if (p->rust && size > 16 && is_class(dwarf_tag(&type))) {
		if (p->integers == 6)
			return false;
		part.place = (uint8_t)p->integers++;
		point_at(p, part, &type);
		return true;
	}
	if (p->rust && !is_plain_in_rust(&type))
		return false;
	if (is_by_address(&type)) {
		if (p->integers < 6) {
			part.place = (uint8_t)p->integers++;
		} else {
			part.place = SWZ_PLACE_STACK;
			part.offset = p->stack;
			p->stack += 8;
		}
		point_at(p, part, &type);
		return true;
	}
	if (!size)
		return false;
	classify(&type, 0, halves, 0);
	if (halves[0] == NONE && halves[1] == NONE)
		return false; /* empty: compilers do not agree */
	for (i = 0; i < 2; i++) {
		integers += halves[i] == INTEGER;
		vectors += halves[i] == SSE;
	}
	/* a vector of 16 bytes is one register */
	if (dwarf_tag(&type) == DW_TAG_array_type && vectors == 2)
		vectors = 1;
	if (halves[0] == MEMORY || halves[1] == MEMORY || halves[0] == X87 ||
	    halves[1] == X87 || p->integers + integers > 6 ||
	    p->vectors + vectors > 8) {
		bool aligned = halves[0] == X87 ||
			       (dwarf_tag(&type) == DW_TAG_base_type &&
				size == 16);

		if (aligned && halves[0] == INTEGER && p->splits_wide)
			return false;
		on_stack(p, part, &type, size, aligned);
		return true;
	}
	if (is_view(&type)) { /* the length, then the pointer */
		part.kind = SWZ_PART_SPAN;
		part.other = (uint16_t)p->integers;
		part.place = (uint8_t)(p->integers + 1);
		p->integers += 2;
		add_part(p, part);
		return true;
	}
	if (is_str(&type)) {
		part.kind = SWZ_PART_SPAN;
		part.place = (uint8_t)p->integers;
		part.other = (uint16_t)(p->integers + 1);
		p->integers += 2;
		add_part(p, part);
		return true;
	}
	if (size <= 8 && halves[0] == INTEGER) {
		part.place = (uint8_t)p->integers++;
		part.bytes = (uint16_t)size;
		add_scalar(p, part, &type, true);
		if (p->wish && p->wish->object && part.value == 0 &&
		    dwarf_tag(&type) == DW_TAG_pointer_type &&
		    number_of(argument, DW_AT_artificial, 0))
			add_object(p, part, &type);
		return true;
	}
	for (i = 0; i < 2 && UINT64_C(8) * i < size; i++) {
		uint64_t left = size - UINT64_C(8) * i;

		part.bytes = (uint16_t)(left < 8 ? left : 8);
		if (halves[i] == SSE && vectors == 1 && size == 16 &&
		    dwarf_tag(&type) == DW_TAG_array_type) {
			part.bytes = 16;
			part.place = (uint8_t)(SWZ_PLACE_VECTOR + p->vectors++);
			add_part(p, part);
			break;
		}
		part.place = (uint8_t)(halves[i] == SSE
					       ? SWZ_PLACE_VECTOR + p->vectors++
					       : p->integers++);
		add_part(p, part);
	}
	return true;
}

static void add_result(struct placing *p, Dwarf_Die *type, bool by_address,
		       enum abi_class halves[2])
{
	struct swz_value_part part = {.type = add_type(p->b, type, 0)};
	uint64_t size = size_of(type);
	unsigned integers = 0, vectors = 0, i;

	part.name = add_text(p->b, "result");
	if (by_address) {
		part.place = SWZ_PLACE_RAX;
		point_at(p, part, type);
	} else if (halves[0] == X87) {
		part.place = SWZ_PLACE_X87;
		part.bytes = 16;
		add_part(p, part);
	} else if (is_view(type)) {
		part.kind = SWZ_PART_SPAN;
		part.other = SWZ_PLACE_RAX;
		part.place = SWZ_PLACE_RDX;
		add_part(p, part);
	} else if (is_str(type)) {
		part.kind = SWZ_PART_SPAN;
		part.place = SWZ_PLACE_RAX;
		part.other = SWZ_PLACE_RDX;
		add_part(p, part);
	} else if (size <= 8 && halves[0] == INTEGER) {
		part.place = SWZ_PLACE_RAX;
		part.bytes = (uint16_t)size;
		add_scalar(p, part, type, false);
	} else if (dwarf_tag(type) != DW_TAG_array_type) {
		for (i = 0; i < 2 && UINT64_C(8) * i < size; i++) {
			uint64_t left = size - UINT64_C(8) * i;

			part.bytes = (uint16_t)(left < 8 ? left : 8);
			part.place =
				(uint8_t)(halves[i] == SSE
						  ? SWZ_PLACE_VECTOR + vectors++
						  : SWZ_PLACE_RAX + integers++);
			add_part(p, part);
		}
	}
}

bool swz_signature_add(struct swz_signature_builder *b, Dwarf_Die *function,
		       uint64_t address, const struct swz_signature_wish *wish)
{
	struct placing p = {.b = b, .first = b->part_count, .wish = wish};
	enum abi_class halves[2] = {NONE, NONE};
	bool by_address = false, has_result;
	struct swz_signature signature = {.function = (uint32_t)address,
					  .first = (uint32_t)b->part_count};
	Dwarf_Die declared = *function, child, result;
	Dwarf_Attribute origin;

	/* in the order of the declaration: what was optimised out is missing
	 * where the code is */
	if (dwarf_attr(function, DW_AT_abstract_origin, &origin))
		(void)dwarf_formref_die(&origin, &declared);
	if (number_of(&declared, DW_AT_calling_convention, 0) == DW_CC_nocall)
		return false;
	p.splits_wide = splits_wide(function);
	p.rust = is_rust(function);
	has_result = type_of(&declared, &result) && peel(&result) &&
		     size_of(&result);
	if (has_result) {
		classify(&result, 0, halves, 0);
		by_address = halves[0] == MEMORY || halves[1] == MEMORY ||
			     is_by_address(&result);
		p.integers = by_address; /* where it is to lie */
	}
	if (dwarf_child(&declared, &child) == 0)
		do {
			if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
			    (b->part_count - p.first >= MOST_PARTS ||
			     !add_argument(&p, &child)))
				break;
		} while (dwarf_siblingof(&child, &child) == 0);
	signature.entry_parts = (uint16_t)(b->part_count - p.first);
	if (has_result && (halves[0] != NONE || by_address) &&
	    (!p.rust || by_address || is_plain_in_rust(&result)))
		add_result(&p, &result, by_address, halves);
	for (unsigned i = 0; i < p.return_count; i++)
		add_part(&p, p.returns[i]);
	signature.return_parts = (uint16_t)(b->part_count - p.first -
					    signature.entry_parts);
	if (b->part_count == p.first)
		return false;
	swz_grow(&b->signatures, &b->capacity, b->count,
		 sizeof(*b->signatures));
	b->signatures[b->count++] = signature;
	return true;
}

/* ------------------------------------------------------------------ checks */

static void add_check(struct swz_signature_builder *b,
		      struct swz_value_check check)
{
	check.signature = (uint32_t)b->count - 1;
	swz_grow(&b->checks, &b->check_capacity, b->check_count,
		 sizeof(*b->checks));
	b->checks[b->check_count++] = check;
}

static bool is_called(const struct swz_signature_builder *b,
		      const struct swz_value_part *part, const char *name)
{
	return (*name == '*') == (part->pointed != 0) &&
	       strcmp(b->text ? b->text + part->name : "",
		      name + (*name == '*')) == 0;
}

/* The part that is all of an argument's value; -1: there is none. */
static int only_part(const struct swz_signature_builder *b, const char *name)
{
	const struct swz_signature *s = &b->signatures[b->count - 1];
	int found = -1;
	unsigned i;

	for (i = 0; i < s->entry_parts; i++) {
		const struct swz_value_part *part = &b->parts[s->first + i];

		if (part->kind == SWZ_PART_KEEP || !part->name ||
		    !is_called(b, part, name))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool find_enumerator(const struct swz_signature_builder *b,
			    const struct swz_value_type *type, const char *name,
			    int64_t *value)
{
	uint32_t i;

	for (i = 0; type->kind == SWZ_TYPE_ENUM && i < type->members; i++) {
		const struct swz_value_member *m = &b->members[type->first + i];

		if (strcmp(b->text + m->name, name) != 0)
			continue;
		*value = m->offset;
		return true;
	}
	return false;
}

static bool as_float(struct swz_value_check *check, size_t bytes, double number)
{
	float narrow = (float)number;

	check->kind = SWZ_CHECK_FLOAT;
	if (bytes == sizeof(number))
		memcpy(&check->value, &number, sizeof(number));
	else if (bytes == sizeof(narrow) && (double)narrow == number)
		memcpy(&check->value, &narrow, sizeof(narrow));
	else
		return false;
	return true;
}

/* Of a number; false: another time. */
static bool as_number(const struct swz_signature_builder *b,
		      const struct swz_value_type *type,
		      const struct swz_condition *c,
		      struct swz_value_check *check)
{
	check->value = c->integer;
	switch (type->kind) {
	case SWZ_TYPE_FLOAT:
		return (c->operand == SWZ_OPERAND_INTEGER ||
			c->operand == SWZ_OPERAND_FLOAT) &&
		       as_float(check, type->bytes, c->number);
	case SWZ_TYPE_ENUM:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER ||
		       (c->operand == SWZ_OPERAND_NAME &&
			find_enumerator(b, type, c->text, &check->value));
	case SWZ_TYPE_SIGNED:
	case SWZ_TYPE_CHAR:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER;
	case SWZ_TYPE_UNSIGNED:
	case SWZ_TYPE_BOOL:
		check->kind = SWZ_CHECK_UNSIGNED;
		return c->operand == SWZ_OPERAND_INTEGER && c->integer >= 0;
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
		check->kind = SWZ_CHECK_UNSIGNED;
		if (c->operand == SWZ_OPERAND_NULL)
			check->value = 0;
		return c->operand == SWZ_OPERAND_NULL ||
		       c->operand == SWZ_OPERAND_INTEGER;
	default:
		return false;
	}
}

void swz_signature_add_check(struct swz_signature_builder *b,
			     const struct swz_condition *c)
{
	struct swz_value_check check = {.op = (uint8_t)c->op};
	const struct swz_value_part *part;
	int at = c->kind == SWZ_IF_ARGUMENT && c->op != SWZ_MATCHES
			 ? only_part(b, c->name)
			 : -1;

	if (at < 0)
		return;
	part = &b->parts[b->signatures[b->count - 1].first + (unsigned)at];
	check.part = (uint16_t)at;
	if (part->kind != SWZ_PART_PLAIN && part->kind != SWZ_PART_MEMORY) {
		check.kind = c->operand == SWZ_OPERAND_NULL ? SWZ_CHECK_NULL
							    : SWZ_CHECK_TEXT;
		if (c->operand != SWZ_OPERAND_NULL &&
		    c->operand != SWZ_OPERAND_TEXT)
			return;
		if (check.kind == SWZ_CHECK_TEXT) {
			check.length = (uint32_t)strlen(c->text);
			check.text = add_text(b, c->text);
		}
	} else if (part->bytes > sizeof(check.value) ||
		   b->types[part->type].bytes != part->bytes ||
		   !as_number(b, &b->types[part->type], c, &check)) {
		return;
	}
	add_check(b, check);
}

void swz_signature_add_backtrace(struct swz_signature_builder *b,
				 unsigned levels, unsigned mark)
{
	add_check(b, (struct swz_value_check){.kind = SWZ_CHECK_BACKTRACE,
					      .part = (uint16_t)levels,
					      .value = INT64_C(1) << mark});
}
