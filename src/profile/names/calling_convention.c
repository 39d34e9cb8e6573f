/* Where C, C++ and Fortran pass arguments and results (System V ABI for x86-64,
 * section 3.2.3; Itanium C++ ABI, section 3.1). Types decide, not location
 * lists: compilers write those for optimised code only, and they end within the
 * prologue. */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "swizzle/values.h"
#include "profile/names/dwarf_types.h"

/* --- classes of the System V ABI ----------------------------------------- */

#define MOST_TYPES 1024u /* in a type; std::variant has 20 levels */

static enum swz_abi_class merge(enum swz_abi_class a, enum swz_abi_class b)
{
	if (a == b || b == SWZ_ABI_NONE)
		return a;
	if (a == SWZ_ABI_NONE)
		return b;
	if (a == SWZ_ABI_MEMORY || b == SWZ_ABI_MEMORY || a == SWZ_ABI_X87 ||
	    b == SWZ_ABI_X87)
		return SWZ_ABI_MEMORY;
	return a == SWZ_ABI_INTEGER || b == SWZ_ABI_INTEGER ? SWZ_ABI_INTEGER
							    : SWZ_ABI_SSE;
}

/* Looks at a type and what is in it. LEFT: how many types may still be looked
 * at, as those of a damaged file may hold each other; 0: too few. */
static void classify(Dwarf_Die *of, uint64_t offset,
		     enum swz_abi_class halves[2], unsigned *left)
{
	Dwarf_Die type = *of, child, element;
	uint64_t size, i, count, each;
	enum swz_abi_class where = SWZ_ABI_INTEGER;
	Dwarf_Word encoding;

	if (!*left || !--*left || !swz_die_peel(&type)) {
		halves[0] = SWZ_ABI_MEMORY;
		return;
	}
	size = swz_die_size(&type);
	if (offset + size > 16) {
		halves[0] = SWZ_ABI_MEMORY;
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		encoding = swz_die_number(&type, DW_AT_encoding, 0);
		if (encoding == DW_ATE_float)
			where = size == 16 ? SWZ_ABI_X87 : SWZ_ABI_SSE;
		else if (encoding == DW_ATE_complex_float)
			where = SWZ_ABI_SSE;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (dwarf_child(&type, &child) != 0)
			return;
		do {
			Dwarf_Die member;
			int tag = dwarf_tag(&child);
			Dwarf_Word at = swz_die_number(
				&child, DW_AT_data_member_location, 0);
			Dwarf_Word bit = 0;

			if ((tag != DW_TAG_member &&
			     tag != DW_TAG_inheritance) ||
			    swz_die_number(&child, DW_AT_external, 0) ||
			    !swz_die_type(&child, &member))
				continue;
			if (swz_die_number(&child, DW_AT_bit_size, 0)) {
				bit = swz_die_first_bit(
					&child, &member,
					swz_die_number(&child, DW_AT_bit_size,
						       0));
				at += bit / 8;
				if (offset + at < 16)
					halves[(offset + at) / 8] = merge(
						halves[(offset + at) / 8],
						SWZ_ABI_INTEGER);
				continue;
			}
			classify(&member, offset + at, halves, left);
		} while (dwarf_siblingof(&child, &child) == 0);
		return;
	case DW_TAG_array_type:
		if (!swz_die_type(&type, &element))
			return;
		if (swz_die_number(&type, DW_AT_GNU_vector, 0)) {
			where = SWZ_ABI_SSE;
			break;
		}
		each = swz_die_size(&element);
		count = each ? size / each : 0;
		for (i = 0; i < count && i < 16; i++)
			classify(&element, offset + i * each, halves, left);
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

bool swz_abi_classify(Dwarf_Die *type, enum swz_abi_class halves[2])
{
	unsigned left = MOST_TYPES;

	classify(type, 0, halves, &left);
	return left;
}

/* True if it copies, moves or destroys objects of the class in a way of its
 * own. */
static bool is_special(Dwarf_Die *function, Dwarf_Die *of)
{
	const char *name = dwarf_diename(function);
	Dwarf_Die child, type;

	if (!name || swz_die_number(function, DW_AT_artificial, 0) ||
	    swz_die_number(function, DW_AT_defaulted, 0) ==
		    DW_DEFAULTED_in_class)
		return false;
	if (*name == '~')
		return true;
	if (strncmp(name, dwarf_diename(of), strcspn(name, "<")) != 0 ||
	    dwarf_child(function, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    swz_die_number(&child, DW_AT_artificial, 0) ||
		    !swz_die_type(&child, &type))
			continue;
		return (dwarf_tag(&type) == DW_TAG_reference_type ||
			dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
		       swz_die_type(&type, &type) && swz_die_peel(&type) &&
		       dwarf_dieoffset(&type) == dwarf_dieoffset(of);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool is_nontrivial(Dwarf_Die *type, unsigned *left)
{
	Dwarf_Die child, of;

	if (!*left || !--*left || !swz_tag_is_class(dwarf_tag(type)) ||
	    !dwarf_diename(type) || dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&child);

		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (swz_die_number(&child, DW_AT_virtuality, 0) ||
			    is_special(&child, type))
				return true;
			break;
		case DW_TAG_inheritance:
			if (swz_die_number(&child, DW_AT_virtuality, 0))
				return true;
			/* fall through */
		case DW_TAG_member:
			if (name && strncmp(name, "_vptr", 5) == 0)
				return true;
			if (!swz_die_number(&child, DW_AT_external, 0) &&
			    swz_die_type(&child, &of) && swz_die_peel(&of) &&
			    is_nontrivial(&of, left))
				return true;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool swz_abi_by_address(Dwarf_Die *type)
{
	unsigned left = MOST_TYPES;
	Dwarf_Word how;

	if (!swz_tag_is_class(dwarf_tag(type)))
		return false;
	how = swz_die_number(type, DW_AT_calling_convention, 0);
	if (how == DW_CC_pass_by_reference || how == DW_CC_pass_by_value)
		return how == DW_CC_pass_by_reference;
	return is_nontrivial(type, &left);
}

/* --- locations that the debug information states ------------------------- */

/* The argument that is DECLARED so, where FUNCTION's code is. False: it is not
 * there. */
static bool entry_argument(Dwarf_Die *function, Dwarf_Die *declared,
			   Dwarf_Die *own)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	if (!dwarf_attr(function, DW_AT_abstract_origin, &attribute)) {
		*own = *declared;
		return true;
	}
	if (dwarf_child(function, own) != 0)
		return false;
	do
		if (dwarf_attr(own, DW_AT_abstract_origin, &attribute) &&
		    dwarf_formref_die(&attribute, &origin) &&
		    dwarf_dieoffset(&origin) == dwarf_dieoffset(declared))
			return true;
	while (dwarf_siblingof(own, own) == 0);
	return false;
}

/* The expression of its location; false: there is none. */
static bool entry_location(Dwarf_Die *function, Dwarf_Die *own, Dwarf_Op **ops,
			   size_t *count)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	return dwarf_entrypc(function, &address) == 0 &&
	       dwarf_attr(own, DW_AT_location, &attribute) &&
	       dwarf_getlocation_addr(&attribute, address, ops, count, 1) ==
		       1 &&
	       *count;
}

/* A register that arguments are passed in; -1: it is none. SysV ABI, 3.6.2 */
static int place_of(const Dwarf_Op *op)
{
	static const int8_t integers[] = {-1, 2, 3, -1, 1, 0, -1, -1, 4, 5};

	if (op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31)
		return -1;
	if (op->atom <= DW_OP_reg9)
		return integers[op->atom - DW_OP_reg0];
	if (op->atom >= DW_OP_reg17 && op->atom <= DW_OP_reg24)
		return SWZ_PLACE_VECTOR + op->atom - DW_OP_reg17;
	return -1;
}

/* The registers of the argument itself, in the order of its pieces: a text and
 * its length lie in registers that follow each other, either first. */
static size_t list_places(const struct swz_value_part *parts, size_t count,
			  unsigned places[4])
{
	size_t i, n = 0;

	for (i = 0; i < count && n + 2 <= 4; i++) {
		if (parts[i].pointed || parts[i].kind == SWZ_PART_KEEP ||
		    (parts[i].kind != SWZ_PART_PLAIN &&
		     parts[i].kind != SWZ_PART_STRING &&
		     parts[i].kind != SWZ_PART_SPAN))
			continue;
		places[n++] = parts[i].place;
		if (parts[i].kind != SWZ_PART_SPAN)
			continue;
		places[n] = parts[i].other;
		if (parts[i].other < parts[i].place) {
			places[n - 1] = parts[i].other;
			places[n] = parts[i].place;
		}
		n++;
	}
	return n;
}

bool swz_entry_differs(Dwarf_Die *function, Dwarf_Die *declared,
		       const struct swz_value_part *parts, size_t count)
{
	unsigned places[4];
	size_t known = list_places(parts, count, places), i, n = 0, op_count;
	Dwarf_Op *ops;
	Dwarf_Die own;
	int place;

	if (!known || !entry_argument(function, declared, &own) ||
	    !entry_location(function, &own, &ops, &op_count))
		return false;
	/* pieces follow each other; one may be missing */
	for (i = 0; i < op_count && n < known; i++) {
		if (ops[i].atom == DW_OP_piece) {
			n++;
			continue;
		}
		place = place_of(&ops[i]);
		if (place < 0 ||
		    (i + 1 < op_count && ops[i + 1].atom != DW_OP_piece))
			return false;
		if ((unsigned)place != places[n])
			return true;
	}
	return false;
}

/* --- C and C++ ----------------------------------------------------------- */

static void on_stack(struct swz_placing *p, struct swz_value_part part,
		     Dwarf_Die *type, uint64_t size, bool aligned)
{
	if (aligned)
		p->stack = (p->stack + 15) & ~15;
	part.place = SWZ_PLACE_STACK;
	part.offset = p->stack;
	part.bytes = (uint16_t)(size < SWZ_MOST_OBJECT_BYTES
					? size
					: SWZ_MOST_OBJECT_BYTES);
	if (size <= 8)
		swz_place_scalar(p, part, type, true);
	else
		swz_place_part(p, part);
	swz_place_value_texts(p, &part, 1, type);
	p->stack += (int32_t)((size + 7) & ~(uint64_t)7);
}

bool swz_c_argument(struct swz_placing *p, Dwarf_Die *argument)
{
	enum swz_abi_class halves[2] = {SWZ_ABI_NONE, SWZ_ABI_NONE};
	unsigned integers = 0, vectors = 0, i;
	struct swz_value_part part = {0}, halves_of[2];
	bool dumped;
	size_t first;
	Dwarf_Die type, named;
	uint64_t size;

	if (swz_die_is_named(argument, "__in_chrg"))
		return true; /* gcc's destructors are not given it */
	if (swz_die_is_named(argument, "__vtt_parm"))
		return false; /* nor all of those with virtual bases this */
	if (!swz_die_type(argument, &type))
		return false;
	named = type;
	if (!swz_die_peel(&type))
		return false;
	size = swz_die_size(&type);
	dumped = swz_is_dumped(p, dwarf_diename(argument)) &&
		 dwarf_tag(&type) == DW_TAG_pointer_type;
	p->is_this = dumped || (!p->value &&
				swz_die_number(argument, DW_AT_artificial, 0));
	dumped |= p->is_this && p->wish && p->wish->object && !p->dumped;
	part.value = (uint16_t)p->value++;
	part.name = swz_signature_add_text(p->b, dwarf_diename(argument));
	part.type = swz_value_type_named(p->b, &named, 0);
	if (p->either && !swz_rust_is_plain(&type))
		return false;
	if (swz_abi_by_address(&type)) {
		swz_next_integer(p, &part);
		swz_place_object(p, part, &type, true);
		return true;
	}
	if (!size)
		return false;
	if (!swz_abi_classify(&type, halves))
		return false;
	if (halves[0] == SWZ_ABI_NONE && halves[1] == SWZ_ABI_NONE)
		return false; /* empty: compilers do not agree */
	for (i = 0; i < 2; i++) {
		integers += halves[i] == SWZ_ABI_INTEGER;
		vectors += halves[i] == SWZ_ABI_SSE;
	}
	/* a vector of 16 bytes is one register */
	if (dwarf_tag(&type) == DW_TAG_array_type && vectors == 2)
		vectors = 1;
	if (halves[0] == SWZ_ABI_MEMORY || halves[1] == SWZ_ABI_MEMORY ||
	    halves[0] == SWZ_ABI_X87 || halves[1] == SWZ_ABI_X87 ||
	    p->integers + integers > 6 || p->vectors + vectors > 8) {
		bool aligned = halves[0] == SWZ_ABI_X87 ||
			       (dwarf_tag(&type) == DW_TAG_base_type &&
				size == 16);

		if (aligned && halves[0] == SWZ_ABI_INTEGER && p->splits_wide)
			return false;
		on_stack(p, part, &type, size, aligned);
		return true;
	}
	if (swz_is_std_view(&type)) { /* the length, then the pointer */
		part.kind = SWZ_PART_SPAN;
		part.other = (uint16_t)p->integers;
		part.place = (uint8_t)(p->integers + 1);
		p->integers += 2;
		swz_place_part(p, part);
		return true;
	}
	if (swz_is_rust_str(&type)) {
		part.kind = SWZ_PART_SPAN;
		part.place = (uint8_t)p->integers;
		part.other = (uint16_t)(p->integers + 1);
		p->integers += 2;
		swz_place_part(p, part);
		return true;
	}
	if (size <= 8 && halves[0] == SWZ_ABI_INTEGER) {
		part.place = (uint8_t)p->integers++;
		part.bytes = (uint16_t)size;
		swz_place_scalar(p, part, &type, true);
		swz_place_value_texts(p, &part, 1, &type);
		if (dumped && dwarf_tag(&type) == DW_TAG_pointer_type)
			(void)swz_place_dumped(p, part, &type,
					       dwarf_diename(argument));
		return true;
	}
	first = p->b->part_count;
	for (i = 0; i < 2 && UINT64_C(8) * i < size; i++) {
		uint64_t left = size - UINT64_C(8) * i;

		part.bytes = (uint16_t)(left < 8 ? left : 8);
		if (halves[i] == SWZ_ABI_SSE && vectors == 1 && size == 16 &&
		    dwarf_tag(&type) == DW_TAG_array_type) {
			part.bytes = 16;
			part.place = (uint8_t)(SWZ_PLACE_VECTOR + p->vectors++);
			swz_place_part(p, part);
			break;
		}
		part.place = (uint8_t)(halves[i] == SWZ_ABI_SSE
					       ? SWZ_PLACE_VECTOR + p->vectors++
					       : p->integers++);
		swz_place_part(p, part);
	}
	for (i = 0; i < 2 && first + i < p->b->part_count; i++)
		halves_of[i] = p->b->parts[first + i];
	swz_place_value_texts(p, halves_of, i, &type);
	return true;
}

bool swz_c_is_wide_complex(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type &&
	       swz_die_number(type, DW_AT_encoding, 0) ==
		       DW_ATE_complex_float &&
	       swz_die_size(type) == 32;
}

void swz_c_result(struct swz_placing *p, Dwarf_Die *type, bool by_address,
		  enum swz_abi_class halves[2])
{
	struct swz_value_part part = {
		.type = swz_value_type_named(p->b, p->result, 0)};
	uint64_t size = swz_die_size(type);
	unsigned integers = 0, vectors = 0, i;
	struct swz_value_part halves_of[2];
	size_t first = p->b->part_count;

	part.name = swz_signature_add_text(p->b, "result");
	if (by_address) {
		part.place = SWZ_PLACE_RAX;
		swz_place_object(p, part, type, false);
	} else if (halves[0] == SWZ_ABI_X87) {
		part.place = SWZ_PLACE_X87;
		part.bytes = 16;
		swz_place_part(p, part);
		part.place++;
		if (swz_c_is_wide_complex(type))
			swz_place_part(p, part);
	} else if (swz_is_std_view(type)) {
		part.kind = SWZ_PART_SPAN;
		part.other = SWZ_PLACE_RAX;
		part.place = SWZ_PLACE_RDX;
		swz_place_part(p, part);
	} else if (swz_is_rust_str(type)) {
		part.kind = SWZ_PART_SPAN;
		part.place = SWZ_PLACE_RAX;
		part.other = SWZ_PLACE_RDX;
		swz_place_part(p, part);
	} else if (size <= 8 && halves[0] == SWZ_ABI_INTEGER) {
		part.place = SWZ_PLACE_RAX;
		part.bytes = (uint16_t)size;
		swz_place_scalar(p, part, type, false);
	} else if (dwarf_tag(type) != DW_TAG_array_type) {
		for (i = 0; i < 2 && UINT64_C(8) * i < size; i++) {
			uint64_t left = size - UINT64_C(8) * i;

			part.bytes = (uint16_t)(left < 8 ? left : 8);
			part.place =
				(uint8_t)(halves[i] == SWZ_ABI_SSE
						  ? SWZ_PLACE_VECTOR + vectors++
						  : SWZ_PLACE_RAX + integers++);
			swz_place_part(p, part);
		}
	}
	if (by_address || part.kind != SWZ_PART_PLAIN)
		return;
	for (i = 0; i < 2 && first + i < p->b->part_count; i++)
		halves_of[i] = p->b->parts[first + i];
	swz_place_value_texts(p, halves_of, i, type);
}

/* --- Fortran ------------------------------------------------------------- */

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

	if (!entry_argument(function, argument, &own) ||
	    !entry_location(function, &own, &ops, &count))
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

/* Takes what the compiler has added. False: it is none of that. */
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
