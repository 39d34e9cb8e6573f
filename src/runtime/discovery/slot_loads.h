#ifndef SWZ_RUNTIME_DISCOVERY_SLOT_LOADS_H
#define SWZ_RUNTIME_DISCOVERY_SLOT_LOADS_H

/* Uses of the memory of a function's own return address that a hook can live
 * with. */

#include "runtime/discovery/function.h"
#include "thunks/encoding.h"

/* lock or $0, lock add $0: a memory fence, as compilers for which mfence is too
 * slow write it, of whatever is on top of the stack. It changes nothing there.
 * Nor does shl $0, which assemblers write before each lfence and ret against
 * load value injection (-mlfence-before-ret, -mlvi-hardening). */
bool swz_is_fence(const uint8_t *code, const struct swz_encoding *encoding);

/* The instruction at `pc` refers to the return address. If it loads it to a
 * register, notes it with the function: it is displaced, with all before it if
 * the jump at the function's beginning reaches there, else by a jump of its own
 * (plan/load_sites.h); and in the copy the real address takes
 * the place of a thunk's (thunks/relocate.h). False: not so. */
bool swz_slot_load_note(const struct swz_module *module,
			struct swz_function *function, uint64_t pc,
			const struct swz_encoding *encoding);

#endif
