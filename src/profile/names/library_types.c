#include "profile/names/library_types.h"

#include <dwarf.h>
#include <string.h>

#include "profile/names/dwarf_types.h"

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
	       swz_die_has_member(type, "_M_dataplus");
}

bool swz_is_std_view(Dwarf_Die *type)
{
	return is_of_chars(type, "basic_string_view") &&
	       swz_die_has_member(type, "_M_len") && swz_die_size(type) == 16;
}

bool swz_is_rust_str(Dwarf_Die *type)
{
	return swz_tag_is_class(dwarf_tag(type)) &&
	       (swz_die_is_named(type, "&str") ||
		swz_die_is_named(type, "&mut str")) &&
	       swz_die_has_member(type, "data_ptr") && swz_die_size(type) == 16;
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
	*offset = !shared && swz_die_has_member(type, "_M_t") ? size - 8 : 0;
	return *offset < UINT16_MAX;
}
