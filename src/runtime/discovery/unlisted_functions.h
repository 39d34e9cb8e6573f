#ifndef SWZ_RUNTIME_DISCOVERY_UNLISTED_FUNCTIONS_H
#define SWZ_RUNTIME_DISCOVERY_UNLISTED_FUNCTIONS_H

/* Functions with neither an unwind entry nor a symbol: the assembly of codecs
 * and of number libraries, once it is stripped. */

#include "runtime/discovery/function.h"
#include "thunks/relocate.h"

/* Finds those that the module's functions, sorted and indexed, call or hand on
 * pointers to, or its data has pointers to, and that do nothing but what
 * functions do: an array in scratch memory for the brief, sorted; *count is
 * their number. NULL if there are none, or there is no memory. Sets
 * module->tableless. */
struct swz_function *swz_unlisted_functions_find(struct swz_module *module,
						 struct swz_decoder *decoder,
						 uint32_t *count);

#endif
