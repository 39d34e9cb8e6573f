#ifndef SWZ_BASE_VALUE_TEXT_H
#define SWZ_BASE_VALUE_TEXT_H

/* The notation of -A, which is uftrace's: FUNCTION@SPEC[,SPEC]...
 *
 *     argN[/FORMAT]     argument N of the class INTEGER: 1 to 6 lie in
 *                       registers, the others on the stack
 *     fpargN[/FORMAT]   argument N of the class SSE: 1 to 8 in registers
 *     retval[/FORMAT]   the result
 *     argN%REGISTER, argN%stack+M, fpargN%xmmM
 *                       elsewhere: a register, the M-th word of the stack
 *
 * FORMAT is a letter and bits (8, 16, 32, 64; f: 32, 64, 80), either may be
 * left out: d and i signed, u, x, o, c (char), b (bool), s (C string), S
 * (std::string), p (pointer), f (floating point). Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/values.h"

/* One SPEC. */
struct swz_value_spec {
	struct swz_value_part part; /* but name and type, which are 0 */
	uint8_t type;               /* enum swz_type_kind */
	bool at_return;
	const char *name; /* "arg1", where it stands */
	unsigned name_length;
};

/* The text of one function's: where its SPECs begin; NULL: there is no @, or
 * nothing on one of its sides. */
const char *swz_value_specs(const char *text, unsigned length);

/* The next SPEC of TEXT, which ends at END; *TEXT then is behind it and a
 * comma. False: it is none; *TEXT stays. At the end the caller does not ask. */
bool swz_value_spec_read(const char **text, const char *end,
			 struct swz_value_spec *spec);

#endif
