#include "profile/names/entry_places.h"

#include <dwarf.h>

bool swz_entry_argument(Dwarf_Die *function, Dwarf_Die *declared,
			Dwarf_Die *own)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	if (!dwarf_attr(function, DW_AT_abstract_origin, &attribute)) {
		*own = *declared;
		return true;
	}
	if (dwarf_child(function, own) != 0)
		return false;
	do
		if (dwarf_attr(own, DW_AT_abstract_origin, &attribute) &&
		    dwarf_formref_die(&attribute, &origin) &&
		    dwarf_dieoffset(&origin) == dwarf_dieoffset(declared))
			return true;
	while (dwarf_siblingof(own, own) == 0);
	return false;
}

bool swz_entry_location(Dwarf_Die *function, Dwarf_Die *own, Dwarf_Op **ops,
			size_t *count)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	return dwarf_entrypc(function, &address) == 0 &&
	       dwarf_attr(own, DW_AT_location, &attribute) &&
	       dwarf_getlocation_addr(&attribute, address, ops, count, 1) ==
		       1 &&
	       *count;
}

/* A register that arguments are passed in; -1: it is none. SysV ABI, 3.6.2 */
static int place_of(const Dwarf_Op *op)
{
	static const int8_t integers[] = {-1, 2, 3, -1, 1, 0, -1, -1, 4, 5};

	if (op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31)
		return -1;
	if (op->atom <= DW_OP_reg9)
		return integers[op->atom - DW_OP_reg0];
	if (op->atom >= DW_OP_reg17 && op->atom <= DW_OP_reg24)
		return SWZ_PLACE_VECTOR + op->atom - DW_OP_reg17;
	return -1;
}

/* The registers of the argument itself, in order. */
static size_t list_places(const struct swz_value_part *parts, size_t count,
			  unsigned places[4])
{
	size_t i, n = 0;

	for (i = 0; i < count && n + 2 <= 4; i++) {
		if (parts[i].pointed || parts[i].kind == SWZ_PART_KEEP ||
		    (parts[i].kind != SWZ_PART_PLAIN &&
		     parts[i].kind != SWZ_PART_STRING &&
		     parts[i].kind != SWZ_PART_SPAN))
			continue;
		places[n++] = parts[i].place;
		if (parts[i].kind == SWZ_PART_SPAN)
			places[n++] = parts[i].other;
	}
	return n;
}

bool swz_entry_differs(Dwarf_Die *function, Dwarf_Die *declared,
		       const struct swz_value_part *parts, size_t count)
{
	unsigned places[4];
	size_t known = list_places(parts, count, places), i, n = 0, op_count;
	Dwarf_Op *ops;
	Dwarf_Die own;
	int place;

	if (!known || !swz_entry_argument(function, declared, &own) ||
	    !swz_entry_location(function, &own, &ops, &op_count))
		return false;
	/* pieces follow each other; one may be missing */
	for (i = 0; i < op_count && n < known; i++) {
		if (ops[i].atom == DW_OP_piece) {
			n++;
			continue;
		}
		place = place_of(&ops[i]);
		if (place < 0 ||
		    (i + 1 < op_count && ops[i + 1].atom != DW_OP_piece))
			return false;
		if ((unsigned)place != places[n])
			return true;
	}
	return false;
}
