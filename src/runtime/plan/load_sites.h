#ifndef SWZ_RUNTIME_PLAN_LOAD_SITES_H
#define SWZ_RUNTIME_PLAN_LOAD_SITES_H

/* A function that loads its own return address somewhere behind its beginning
 * (QEMU's helpers do behind a call) has a second jump, in place of that
 * instruction and the next if it is shorter, to a copy behind which a thunk's
 * address becomes the return address that the thunk has (thunks/relocate.h). */

#include "runtime/module/module.h"
#include "runtime/support/decoders.h"

/* How many copies there will be at most. */
uint32_t swz_load_sites_wanted(const struct swz_module *module);

/* Writes the copies of the functions that have a trampoline, and adds to the
 * module's inner sites. A function for which that does not go is refused. */
void swz_plan_load_sites(struct swz_module *module,
			 const struct swz_decoders *decoders);

#endif
