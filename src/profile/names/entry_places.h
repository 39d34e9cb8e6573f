#ifndef SWZ_PROFILE_NAMES_ENTRY_PLACES_H
#define SWZ_PROFILE_NAMES_ENTRY_PLACES_H

/* Where the debug information itself says that an argument lies at the first
 * instruction: seldom all of it, and with optimisation only. Compilers drop
 * arguments that a function does not need, and older ones do not say so; then
 * those behind it have moved. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "swizzle/values.h"

/* The argument that is DECLARED so, where FUNCTION's code is. False: it is not
 * there. */
bool swz_entry_argument(Dwarf_Die *function, Dwarf_Die *declared,
			Dwarf_Die *own);

/* The expression of its location; false: there is none. */
bool swz_entry_location(Dwarf_Die *function, Dwarf_Die *own, Dwarf_Op **ops,
			size_t *count);

/* Whether a register is another one than PARTS of the argument say. */
bool swz_entry_differs(Dwarf_Die *function, Dwarf_Die *declared,
		       const struct swz_value_part *parts, size_t count);

#endif
