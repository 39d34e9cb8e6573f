#include "profile/names/dwarf_types.h"

#include <dwarf.h>
#include <string.h>

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

bool swz_die_is_named(Dwarf_Die *type, const char *begin)
{
	const char *name = dwarf_diename(type);

	return name && strncmp(name, begin, strlen(begin)) == 0;
}

bool swz_die_has_member(Dwarf_Die *type, const char *name)
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
