#ifndef SWZ_RUNTIME_DISCOVERY_KEPT_REGISTERS_H
#define SWZ_RUNTIME_DISCOVERY_KEPT_REGISTERS_H

/* The registers that a function keeps for its caller, %rbx, %rbp and %r12 to
 * %r15 (SysV ABI 3.2.1): code with conventions of its own, as V8's builtins
 * are, sets them as it likes, and finds in them what its callers have put
 * there. */

#include <stdbool.h>
#include <stdint.h>

#include "thunks/encoding.h"

struct swz_kept_registers {
	uint16_t saved; /* bits by number: pushed, or stored to the stack */
	uint16_t set;
};

/* Takes an instruction of a function into account, of which those before it on
 * its way have been. in_stack: its memory operand is there. False: it sets one
 * that has not been saved, or finds memory by one that has not been set. */
bool swz_kept_registers_follow(struct swz_kept_registers *registers,
			       const struct swz_encoding *encoding,
			       bool in_stack);

#endif
