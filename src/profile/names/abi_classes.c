#include "profile/names/abi_classes.h"

#include <dwarf.h>
#include <string.h>

#include "profile/names/dwarf_types.h"

#define MOST_DEPTH 8 /* of types within types */

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

void swz_abi_classify(Dwarf_Die *of, uint64_t offset,
		      enum swz_abi_class halves[2], unsigned depth)
{
	Dwarf_Die type = *of, child, element;
	uint64_t size, i, count, each;
	enum swz_abi_class where = SWZ_ABI_INTEGER;
	Dwarf_Word encoding;

	if (depth > MOST_DEPTH || !swz_die_peel(&type)) {
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
			swz_abi_classify(&member, offset + at, halves,
					 depth + 1);
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
			swz_abi_classify(&element, offset + i * each, halves,
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

static bool is_nontrivial(Dwarf_Die *type, unsigned depth)
{
	Dwarf_Die child, of;

	if (depth > MOST_DEPTH || !swz_tag_is_class(dwarf_tag(type)) ||
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
			    is_nontrivial(&of, depth + 1))
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
	Dwarf_Word how;

	if (!swz_tag_is_class(dwarf_tag(type)))
		return false;
	how = swz_die_number(type, DW_AT_calling_convention, 0);
	if (how == DW_CC_pass_by_reference || how == DW_CC_pass_by_value)
		return how == DW_CC_pass_by_reference;
	return is_nontrivial(type, 0);
}
