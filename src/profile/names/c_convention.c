#include "profile/names/c_convention.h"

#include <dwarf.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/library_types.h"
#include "profile/names/rust_convention.h"
#include "profile/names/value_types.h"

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
	p->stack += (int32_t)((size + 7) & ~(uint64_t)7);
}

bool swz_c_argument(struct swz_placing *p, Dwarf_Die *argument)
{
	enum swz_abi_class halves[2] = {SWZ_ABI_NONE, SWZ_ABI_NONE};
	unsigned integers = 0, vectors = 0, i;
	struct swz_value_part part = {0};
	Dwarf_Die type;
	uint64_t size;

	if (swz_die_is_named(argument, "__in_chrg"))
		return true; /* gcc's destructors are not given it */
	if (swz_die_is_named(argument, "__vtt_parm"))
		return false; /* nor all of those with virtual bases this */
	if (!swz_die_type(argument, &type) || !swz_die_peel(&type))
		return false;
	size = swz_die_size(&type);
	part.value = (uint16_t)p->value++;
	part.name = swz_signature_add_text(p->b, dwarf_diename(argument));
	part.type = swz_value_type_add(p->b, &type, 0);
	if (p->either && !swz_rust_is_plain(&type))
		return false;
	if (swz_abi_by_address(&type)) {
		swz_next_integer(p, &part);
		swz_place_object(p, part, &type, true);
		return true;
	}
	if (!size)
		return false;
	swz_abi_classify(&type, 0, halves, 0);
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
		if (p->wish && p->wish->object && part.value == 0 &&
		    dwarf_tag(&type) == DW_TAG_pointer_type &&
		    swz_die_number(argument, DW_AT_artificial, 0))
			swz_place_dumped(p, part, &type);
		return true;
	}
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
		.type = swz_value_type_add(p->b, type, 0)};
	uint64_t size = swz_die_size(type);
	unsigned integers = 0, vectors = 0, i;

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
}
