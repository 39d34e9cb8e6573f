#ifndef SWZ_PROFILE_NAMES_VALUE_PRINTERS_H
#define SWZ_PROFILE_NAMES_VALUE_PRINTERS_H

/* [printer@TYPE] of the configuration. */

#include "profile/names/signature_builder.h"

/* That of a class; the last one counts; NULL: there is none. */
const struct swz_rule *swz_printer_of(const struct swz_signature_builder *b,
				      Dwarf_Die *type);

/* The type that shows a number as {size = N}; MEMBER: the number's. */
uint32_t swz_size_type(struct swz_signature_builder *b, Dwarf_Die *member);

/* How PART, which points at an object, gets what the printer shows. False: the
 * class has no such fields. */
bool swz_printer_apply(struct swz_signature_builder *b,
		       const struct swz_rule *printer, Dwarf_Die *type,
		       struct swz_value_part *part);

#endif
