#ifndef SWZ_PROFILE_NAMES_FORTRAN_CONVENTION_H
#define SWZ_PROFILE_NAMES_FORTRAN_CONVENTION_H

/* What gfortran passes: nearly all by the address, arrays of a shape that is
 * not known by that of a descriptor, and behind all arguments the lengths of
 * texts. The debug information has the types of what lies there. Whether it is
 * the address that is passed (no `value`), the location at the first
 * instruction tells. */

#include "profile/names/placing.h"

bool swz_is_fortran(Dwarf_Die *function);

/* The next argument, as it is declared. False: from here on it is not known
 * where they lie. */
bool swz_fortran_argument(struct swz_placing *p, Dwarf_Die *function,
			  Dwarf_Die *argument);

/* After all arguments: what has no length that is known is no text. */
void swz_fortran_end(struct swz_placing *p);

#endif
