#include "profile/names/rust_layout.h"

#include <dwarf.h>

#include "profile/names/dwarf_types.h"

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

/* Whether there is no more space than two scalars take. */
static bool is_pair(const struct swz_rust_scalar of[2], uint64_t size)
{
	uint64_t most = of[0].bytes > of[1].bytes ? of[0].bytes : of[1].bytes;

	return !of[0].offset &&
	       of[1].offset == align(of[0].bytes, of[1].bytes) &&
	       size == align(of[1].offset + of[1].bytes, most);
}

struct swz_rust_layout swz_rust_layout(Dwarf_Die *type)
{
	struct swz_rust_layout layout = {.shape = SWZ_RUST_UNKNOWN};
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
