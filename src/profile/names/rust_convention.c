#include "profile/names/rust_convention.h"

#include <dwarf.h>
#include <string.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/library_types.h"
#include "profile/names/rust_layout.h"
#include "profile/names/value_types.h"

/* FnOnce::call_once and the like: their last argument is a tuple, which is
 * passed as if it were so many arguments. */
static bool spreads(Dwarf_Die *function)
{
	static const char *const names[] = {"call_once", "call_mut", "call"};
	const char *name = dwarf_diename(function);
	size_t i;

	for (i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strcspn(name, "<")) == 0 &&
		    strlen(names[i]) == strcspn(name, "<"))
			return true;
	return false;
}

enum swz_rust_function swz_rust_function(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    dwarf_srclang(&unit) != DW_LANG_Rust)
		return SWZ_RUST_NONE;
	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name ||
	    (strncmp(name, "_ZN", 3) != 0 && strncmp(name, "_R", 2) != 0) ||
	    spreads(function))
		return SWZ_RUST_EITHER;
	return SWZ_RUST_OWN;
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

static void next_place(struct swz_placing *p, struct swz_value_part *part,
		       bool is_float)
{
	if (is_float)
		swz_next_vector(p, part);
	else
		swz_next_integer(p, part);
}

/* Text of which two places are known. */
static void add_str(struct swz_placing *p, struct swz_value_part part,
		    const struct swz_value_part *length)
{
	part.kind = SWZ_PART_SPAN;
	part.bytes = 0;
	part.other = swz_place_number(length);
	swz_place_part(p, part);
}

static void add_pair(struct swz_placing *p, struct swz_value_part part,
		     Dwarf_Die *type, const struct swz_rust_scalar of[2])
{
	struct swz_value_part second = part;

	/* with what lies between them */
	part.bytes = (uint16_t)of[1].offset;
	second.bytes = (uint16_t)(swz_die_size(type) - of[1].offset);
	next_place(p, &part, of[0].is_float);
	next_place(p, &second, of[1].is_float);
	if (swz_is_rust_str(type)) {
		add_str(p, part, &second);
		return;
	}
	swz_place_part(p, part);
	swz_place_part(p, second);
}

/* More than a register holds. */
static bool is_by_address(const struct swz_rust_layout *layout, uint64_t size)
{
	return layout->shape == SWZ_RUST_AGGREGATE && size > 8;
}

bool swz_rust_argument(struct swz_placing *p, Dwarf_Die *argument)
{
	struct swz_value_part part = {0};
	struct swz_rust_layout layout;
	Dwarf_Die type;
	uint64_t size;

	if (!swz_die_type(argument, &type) || !swz_die_peel(&type))
		return false;
	size = swz_die_size(&type);
	layout = swz_rust_layout(&type);
	part.value = (uint16_t)p->value++;
	if (layout.shape == SWZ_RUST_NOTHING)
		return true;
	part.name = swz_signature_add_text(p->b, dwarf_diename(argument));
	part.type = swz_value_type_add(p->b, &type, 0);
	part.bytes = (uint16_t)(size < 16 ? size : 16);
	switch (layout.shape) {
	case SWZ_RUST_SCALAR:
		next_place(p, &part, layout.of[0].is_float);
		if (layout.of[0].is_float)
			swz_place_part(p, part);
		else
			swz_place_scalar(p, part, &type, true);
		return true;
	case SWZ_RUST_PAIR:
		add_pair(p, part, &type, layout.of);
		return true;
	case SWZ_RUST_AGGREGATE:
		swz_next_integer(p, &part);
		if (is_by_address(&layout, size))
			swz_place_object(p, part, &type, true);
		else
			swz_place_part(p, part);
		return true;
	default:
		return false;
	}
}

bool swz_rust_begin(struct swz_placing *p, Dwarf_Die *result, bool *by_address)
{
	struct swz_rust_layout layout;

	*by_address = false;
	if (!result)
		return true;
	layout = swz_rust_layout(result);
	*by_address = is_by_address(&layout, swz_die_size(result));
	p->integers = *by_address;
	return layout.shape != SWZ_RUST_UNKNOWN;
}

static void add_returned_pair(struct swz_placing *p, struct swz_value_part part,
			      Dwarf_Die *type,
			      const struct swz_rust_scalar of[2])
{
	struct swz_value_part second = part;

	part.place = of[0].is_float ? SWZ_PLACE_VECTOR : SWZ_PLACE_RAX;
	second.place = of[1].is_float != of[0].is_float
			       ? (of[1].is_float ? SWZ_PLACE_VECTOR
						 : SWZ_PLACE_RAX)
			       : (uint8_t)(part.place + 1);
	part.bytes = (uint16_t)of[1].offset;
	second.bytes = (uint16_t)(swz_die_size(type) - of[1].offset);
	if (swz_is_rust_str(type)) {
		add_str(p, part, &second);
		return;
	}
	swz_place_part(p, part);
	swz_place_part(p, second);
}

void swz_rust_result(struct swz_placing *p, Dwarf_Die *type, bool by_address)
{
	struct swz_value_part part = {.place = SWZ_PLACE_RAX};
	struct swz_rust_layout layout = swz_rust_layout(type);

	if (layout.shape == SWZ_RUST_NOTHING)
		return;
	part.type = swz_value_type_add(p->b, type, 0);
	part.name = swz_signature_add_text(p->b, "result");
	part.bytes = (uint16_t)swz_die_size(type);
	if (by_address) {
		swz_place_object(p, part, type, false);
	} else if (layout.shape == SWZ_RUST_PAIR) {
		add_returned_pair(p, part, type, layout.of);
	} else if (layout.shape == SWZ_RUST_SCALAR && layout.of[0].is_float) {
		part.place = SWZ_PLACE_VECTOR;
		swz_place_part(p, part);
	} else {
		swz_place_scalar(p, part, type, false);
	}
}
