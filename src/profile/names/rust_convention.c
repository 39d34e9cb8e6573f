/* Rust's own calling convention is not specified. It is taken from rustc's
 * sources: scalars and pairs of scalars go in registers, everything else by
 * reference. Layouts are read from the debug information, field by field. */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "profile/names/dwarf_types.h"

/* --- layouts ------------------------------------------------------------- */

/* How rustc passes an object by value, from its type alone: it makes a scalar,
 * or a pair of scalars, of what has no more than that in it (rustc_abi,
 * "backend representation"). */

enum swz_rust_shape {
	SWZ_RUST_NOTHING, /* it has no size, and takes no register */
	SWZ_RUST_SCALAR,
	SWZ_RUST_PAIR,
	SWZ_RUST_AGGREGATE, /* bytes in registers, or an address */
	SWZ_RUST_UNKNOWN    /* versions of rustc differ, or it is a rarity */
};

struct swz_rust_scalar {
	uint64_t offset, bytes;
	bool is_float;
};

struct rust_layout {
	enum swz_rust_shape shape;
	struct swz_rust_scalar of[2]; /* SCALAR, PAIR; by their offsets */
};

#define MOST_DEPTH 16

/* A scalar, and of which sort: rustc makes one of two sorts of the same size
 * in some of its versions only. */
struct leaf {
	struct swz_rust_scalar scalar;
	Dwarf_Word sort;
};

struct leaves {
	struct leaf of[2];
	unsigned count;
	bool more;   /* than two, or an array */
	bool unsure; /* what it is matters if it is small */
	bool wide;   /* has a number of 16 bytes: always a rarity */
};

static void collect(Dwarf_Die *of, uint64_t offset, struct leaves *leaves,
		    unsigned depth);

static void add_leaf(struct leaves *leaves, uint64_t offset, uint64_t bytes,
		     Dwarf_Word sort)
{
	if (!bytes)
		return;
	leaves->wide |= bytes > 8;
	if (leaves->count == 2) {
		leaves->more = true;
		return;
	}
	leaves->of[leaves->count++] = (struct leaf){
		.scalar = {offset, bytes, sort == DW_ATE_float}, .sort = sort};
}

static void collect_members(Dwarf_Die *type, uint64_t offset,
			    struct leaves *leaves, unsigned depth)
{
	Dwarf_Die child, member;

	if (dwarf_child(type, &child) != 0)
		return;
	do
		if (dwarf_tag(&child) == DW_TAG_member &&
		    swz_die_type(&child, &member))
			collect(&member,
				offset + swz_die_number(
						 &child,
						 DW_AT_data_member_location, 0),
				leaves, depth);
	while (dwarf_siblingof(&child, &child) == 0);
}

static bool has_value(Dwarf_Die *variant)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(variant, DW_AT_discr_value, &attribute) ||
	       dwarf_attr(variant, DW_AT_discr_list, &attribute);
}

static void spread(struct leaves *to, const struct leaves *from)
{
	to->more |= from->more;
	to->unsure |= from->unsure;
	to->wide |= from->wide;
}

/* All variants with data have the same scalar behind the tag. */
static void add_tagged(struct leaves *to, const struct leaves *variant,
		       struct leaf *common, bool *any)
{
	const struct leaf *leaf = &variant->of[0];

	spread(to, variant);
	to->more |= variant->count > 1;
	if (variant->count != 1)
		return;
	if (!*any) {
		*common = *leaf;
		*any = true;
		return;
	}
	if (leaf->scalar.offset != common->scalar.offset ||
	    leaf->scalar.bytes != common->scalar.bytes ||
	    leaf->scalar.is_float != common->scalar.is_float)
		to->more = true;
	else if (leaf->sort != common->sort)
		to->unsure = true;
}

/* A tag and, behind it, data; or, where one variant has no value of the
 * discriminant, that variant's data, and the others have none. */
static void collect_variants(Dwarf_Die *part, uint64_t offset,
			     struct leaves *leaves, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die discriminant, type, child;
	bool tagged = dwarf_attr(part, DW_AT_discr, &attribute) &&
		      dwarf_formref_die(&attribute, &discriminant) &&
		      swz_die_type(&discriminant, &type),
	     any = false;
	struct leaf common = {.sort = 0};

	if (dwarf_child(part, &child) != 0)
		return;
	do
		if (dwarf_tag(&child) == DW_TAG_variant && !has_value(&child))
			tagged = false;
	while (dwarf_siblingof(&child, &child) == 0);
	if (tagged)
		add_leaf(leaves,
			 offset + swz_die_number(&discriminant,
						 DW_AT_data_member_location, 0),
			 swz_die_size(&type), DW_ATE_unsigned);
	(void)dwarf_child(part, &child);
	do {
		struct leaves variant = {0};

		if (dwarf_tag(&child) != DW_TAG_variant)
			continue;
		collect_members(&child, offset, &variant, depth);
		if (tagged) {
			add_tagged(leaves, &variant, &common, &any);
		} else if (has_value(&child)) {
			spread(leaves, &variant);
			leaves->more |= variant.count != 0;
		} else {
			collect_members(&child, offset, leaves, depth);
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	if (any)
		add_leaf(leaves, common.scalar.offset, common.scalar.bytes,
			 common.sort);
}

static void collect(Dwarf_Die *of, uint64_t offset, struct leaves *leaves,
		    unsigned depth)
{
	Dwarf_Die type = *of, part;

	if (depth > MOST_DEPTH || !swz_die_peel(&type)) {
		leaves->unsure = leaves->wide = true;
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		add_leaf(leaves, offset, swz_die_size(&type),
			 swz_die_number(&type, DW_AT_encoding, 0));
		break;
	case DW_TAG_enumeration_type:
		add_leaf(leaves, offset, swz_die_size(&type), DW_ATE_unsigned);
		break;
	case DW_TAG_pointer_type:
		add_leaf(leaves, offset, 8, DW_ATE_address);
		break;
	case DW_TAG_array_type:
		leaves->more |= swz_die_size(&type) != 0;
		/* in a struct it may be what a vector register holds */
		leaves->unsure |= depth && swz_die_size(&type) != 0;
		break;
	case DW_TAG_structure_type:
		if (swz_die_variant_part(&type, &part))
			collect_variants(&part, offset, leaves, depth + 1);
		else
			collect_members(&type, offset, leaves, depth + 1);
		break;
	default: /* a union: one of its fields says */
		leaves->more = leaves->unsure = true;
		break;
	}
}

static uint64_t align(uint64_t offset, uint64_t to)
{
	return (offset + to - 1) & ~(to - 1);
}

/* True if there is no more space than two scalars take. */
static bool is_pair(const struct swz_rust_scalar of[2], uint64_t size)
{
	uint64_t most = of[0].bytes > of[1].bytes ? of[0].bytes : of[1].bytes;

	return !of[0].offset &&
	       of[1].offset == align(of[0].bytes, of[1].bytes) &&
	       size == align(of[1].offset + of[1].bytes, most);
}

/* TYPE is peeled. */
static struct rust_layout rust_layout(Dwarf_Die *type)
{
	struct rust_layout layout = {.shape = SWZ_RUST_UNKNOWN};
	struct leaves leaves = {0};
	uint64_t size = swz_die_size(type);
	unsigned i;

	collect(type, 0, &leaves, 0);
	if (leaves.wide)
		return layout;
	if (leaves.more || leaves.unsure) {
		/* nothing that is larger is a pair */
		if (!leaves.unsure || size > 16)
			layout.shape = SWZ_RUST_AGGREGATE;
		return layout;
	}
	for (i = 0; i < leaves.count; i++)
		layout.of[i] = leaves.of[i].scalar;
	if (leaves.count == 2 && layout.of[1].offset < layout.of[0].offset) {
		layout.of[0] = leaves.of[1].scalar;
		layout.of[1] = leaves.of[0].scalar;
	}
	if (!leaves.count)
		layout.shape = size ? SWZ_RUST_UNKNOWN : SWZ_RUST_NOTHING;
	else if (leaves.count == 1 && !layout.of[0].offset &&
		 layout.of[0].bytes == size)
		layout.shape = SWZ_RUST_SCALAR;
	else if (leaves.count == 2 && is_pair(layout.of, size))
		layout.shape = SWZ_RUST_PAIR;
	return layout;
}

/* --- arguments and results ----------------------------------------------- */

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
static bool is_by_address(const struct rust_layout *layout, uint64_t size)
{
	return layout->shape == SWZ_RUST_AGGREGATE && size > 8;
}

bool swz_rust_argument(struct swz_placing *p, Dwarf_Die *argument)
{
	struct swz_value_part part = {0};
	struct rust_layout layout;
	Dwarf_Die type;
	uint64_t size;

	if (!swz_die_type(argument, &type) || !swz_die_peel(&type))
		return false;
	size = swz_die_size(&type);
	layout = rust_layout(&type);
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
	struct rust_layout layout;

	*by_address = false;
	if (!result)
		return true;
	layout = rust_layout(result);
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
	struct rust_layout layout = rust_layout(type);

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
