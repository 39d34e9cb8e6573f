#ifndef SWZ_RUNTIME_PLAN_LED_BRANCHES_H
#define SWZ_RUNTIME_PLAN_LED_BRANCHES_H

/* A loop that goes back into the patch site, and is too long to be displaced as
 * a whole: its branch is led to the copy of the instruction that it goes to, if
 * it has a distance of 32 bits. */

#include "runtime/discovery/function.h"
#include "runtime/support/decoders.h"

/* Leads the function's branches, all of those into its site, to where its
 * trampoline, which has been written, has the copies: adds to the module's
 * inner sites. False: they do not go to instructions that were displaced. */
bool swz_branches_lead(struct swz_module *module, struct swz_decoder *decoder,
		       const struct swz_function *function);

#endif
