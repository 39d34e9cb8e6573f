#ifndef SWZ_RUNTIME_DISCOVERY_SLOT_LOADS_H
#define SWZ_RUNTIME_DISCOVERY_SLOT_LOADS_H

/* Uses of the memory of a function's own return address that a hook can live
 * with. */

#include "runtime/discovery/function.h"
#include "runtime/discovery/profile_calls.h"
#include "thunks/encoding.h"

/* lock or $0, lock add $0: a memory fence, as compilers for which mfence is too
 * slow write it, of whatever is on top of the stack. It changes nothing there.
 * Nor does shl $0, which assemblers write before each lfence and ret against
 * load value injection (-mlfence-before-ret, -mlvi-hardening). */
bool swz_is_fence(const uint8_t *code, const struct swz_encoding *encoding);

/* What is known while a function's loads are noted, in their order; zeroed at
 * first, but for `calls`, which may be NULL. */
struct swz_slot_loader {
	const struct swz_profile_calls *calls;
	uint64_t on_stack_to; /* up to there it does not leave its stack */
	uint32_t latest;      /* of its load sites */
	bool left_stack;
	bool looked_for_jumps, jumps_indirectly;
};

/* The instruction at `pc` refers to the return address. If it loads it to a
 * register, notes it with the function: it is displaced, with all before it if
 * the jump at the function's beginning reaches there, else by a jump of its own
 * (plan/load_sites.h); and in the copy the real address takes
 * the place of a thunk's (thunks/relocate.h). False: not so. */
bool swz_slot_load_note(const struct swz_module *module,
			struct swz_function *function,
			struct swz_slot_loader *loader, uint64_t pc,
			const struct swz_encoding *encoding);

/* Whether the instruction cannot fault: lea, mov, or arithmetic, of registers
 * and constants, or a load from the frame or from a place of the module. */
bool swz_only_moves(const struct swz_encoding *encoding);

/* Whether the flags may be read behind the load at that address. */
bool swz_slot_load_keeps_flags(const struct swz_module *module, uint64_t load);

#endif
