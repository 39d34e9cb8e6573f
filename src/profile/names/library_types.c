#include "profile/names/library_types.h"

#include <dwarf.h>

#include "profile/names/dwarf_types.h"

bool swz_is_std_string(Dwarf_Die *type)
{
	return swz_tag_is_class(dwarf_tag(type)) &&
	       swz_die_is_named(type, "basic_string<char") &&
	       swz_die_has_member(type, "_M_dataplus");
}

bool swz_is_std_view(Dwarf_Die *type)
{
	return swz_tag_is_class(dwarf_tag(type)) &&
	       swz_die_is_named(type, "basic_string_view<char") &&
	       swz_die_has_member(type, "_M_len") && swz_die_size(type) == 16;
}

bool swz_is_rust_str(Dwarf_Die *type)
{
	return swz_tag_is_class(dwarf_tag(type)) &&
	       (swz_die_is_named(type, "&str") ||
		swz_die_is_named(type, "&mut str")) &&
	       swz_die_has_member(type, "data_ptr") && swz_die_size(type) == 16;
}
