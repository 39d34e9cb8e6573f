#ifndef SWZ_RUNTIME_SUPPORT_REFUSALS_H
#define SWZ_RUNTIME_SUPPORT_REFUSALS_H

/* Why functions are not patched, for the user. */

#include <stdint.h>

#include "swizzle/refusal.h"

/* Prints a line for each reason but one that counts say there is. */
void swz_refusals_print(const uint32_t *counts, unsigned except,
			const char *indent);

#endif
