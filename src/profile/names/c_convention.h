#ifndef SWZ_PROFILE_NAMES_C_CONVENTION_H
#define SWZ_PROFILE_NAMES_C_CONVENTION_H

/* Where C and C++ pass what they pass: the next argument, and the result. */

#include "profile/names/abi_classes.h"
#include "profile/names/placing.h"

/* False: from here on it is not known where arguments lie. */
bool swz_c_argument(struct swz_placing *p, Dwarf_Die *argument);

/* _Complex long double, which returns in two registers of the x87. */
bool swz_c_is_wide_complex(Dwarf_Die *type);

/* BY_ADDRESS: it lies where the first register said. */
void swz_c_result(struct swz_placing *p, Dwarf_Die *type, bool by_address,
		  enum swz_abi_class halves[2]);

#endif
