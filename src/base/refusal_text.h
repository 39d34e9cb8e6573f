#ifndef SWZ_BASE_REFUSAL_TEXT_H
#define SWZ_BASE_REFUSAL_TEXT_H

#include "swizzle/refusal.h"

/* Why a function is not patched (enum swz_refusal), in words. Any number is
 * allowed. */
const char *swz_refusal_text(unsigned int reason);

#endif
