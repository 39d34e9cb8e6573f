#ifndef SWZ_RUNTIME_DISCOVERY_PROFILE_CALLS_H
#define SWZ_RUNTIME_DISCOVERY_PROFILE_CALLS_H

/* The calls that a compiler adds for -finstrument-functions: of
 * __cyg_profile_func_enter and __cyg_profile_func_exit, with the return address
 * as the second argument. */

#include "runtime/module/module.h"

struct swz_profile_calls {
	uint64_t functions[2]; /* if the module has its own */
	unsigned function_count;
	uint64_t slots[4]; /* GOT entries */
	unsigned slot_count;
};

/* Finds out how the module gets to them. */
void swz_profile_calls_find(struct swz_profile_calls *calls,
			    const struct swz_module *module);

/* Whether the instruction at `pc`, of a function that goes up to `end`, is such
 * a call: direct, by a PLT entry, or through the GOT. */
bool swz_profile_calls_has(const struct swz_profile_calls *calls,
			   const struct swz_module *module, uint64_t pc,
			   uint64_t end);

#endif
