#include "profile/names/signature_builder.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "profile/names/abi_classes.h"
#include "profile/names/c_convention.h"
#include "profile/names/dwarf_types.h"
#include "profile/names/placing.h"
#include "profile/names/rust_convention.h"
#include "profile/names/value_types.h"
#include "profile/support/memory.h"

#define MOST_PARTS 64u /* of a function's entry */

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

bool swz_signature_add(struct swz_signature_builder *b, Dwarf_Die *function,
		       uint64_t address, const struct swz_signature_wish *wish)
{
	struct swz_placing p = {.b = b, .first = b->part_count, .wish = wish};
	enum swz_abi_class halves[2] = {SWZ_ABI_NONE, SWZ_ABI_NONE};
	bool by_address = false, has_result;
	struct swz_signature signature = {.function = (uint32_t)address,
					  .first = (uint32_t)b->part_count};
	Dwarf_Die declared = *function, child, result;
	Dwarf_Attribute origin;

	/* in the order of the declaration: what was optimised out is missing
	 * where the code is */
	if (dwarf_attr(function, DW_AT_abstract_origin, &origin))
		(void)dwarf_formref_die(&origin, &declared);
	if (swz_die_number(&declared, DW_AT_calling_convention, 0) ==
	    DW_CC_nocall)
		return false;
	p.splits_wide = splits_wide(function);
	p.rust = swz_is_rust(function);
	has_result = swz_die_type(&declared, &result) &&
		     swz_die_peel(&result) && swz_die_size(&result);
	if (has_result) {
		swz_abi_classify(&result, 0, halves, 0);
		by_address = halves[0] == SWZ_ABI_MEMORY ||
			     halves[1] == SWZ_ABI_MEMORY ||
			     swz_abi_by_address(&result);
		p.integers = by_address; /* where it is to lie */
	}
	if (dwarf_child(&declared, &child) == 0)
		do {
			if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
			    (b->part_count - p.first >= MOST_PARTS ||
			     !swz_c_argument(&p, &child)))
				break;
		} while (dwarf_siblingof(&child, &child) == 0);
	signature.entry_parts = (uint16_t)(b->part_count - p.first);
	if (has_result && (halves[0] != SWZ_ABI_NONE || by_address) &&
	    (!p.rust || by_address || swz_rust_is_plain(&result)))
		swz_c_result(&p, &result, by_address, halves);
	for (unsigned i = 0; i < p.return_count; i++)
		swz_place_part(&p, p.returns[i]);
	signature.return_parts = (uint16_t)(b->part_count - p.first -
					    signature.entry_parts);
	if (b->part_count == p.first)
		return false;
	swz_grow(&b->signatures, &b->capacity, b->count,
		 sizeof(*b->signatures));
	b->signatures[b->count++] = signature;
	return true;
}
