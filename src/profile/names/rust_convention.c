#include "profile/names/rust_convention.h"

#include <dwarf.h>

#include "profile/names/dwarf_types.h"

bool swz_is_rust(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Rust;
}

bool swz_rust_is_plain(Dwarf_Die *type)
{
	Dwarf_Die child, of;
	unsigned words = 0;

	if (!swz_tag_is_class(dwarf_tag(type)))
		return dwarf_tag(type) == DW_TAG_base_type ||
		       dwarf_tag(type) == DW_TAG_pointer_type;
	if (swz_die_size(type) != 16 || dwarf_child(type, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_variant_part)
			return false;
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		if (!swz_die_type(&child, &of) || !swz_die_peel(&of) ||
		    swz_die_size(&of) != 8 ||
		    (dwarf_tag(&of) != DW_TAG_base_type &&
		     dwarf_tag(&of) != DW_TAG_pointer_type) ||
		    swz_die_number(&of, DW_AT_encoding, 0) == DW_ATE_float)
			return false;
		words++;
	} while (dwarf_siblingof(&child, &child) == 0);
	return words == 2;
}
