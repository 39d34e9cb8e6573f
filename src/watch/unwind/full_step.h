#ifndef SWZ_WATCH_UNWIND_FULL_STEP_H
#define SWZ_WATCH_UNWIND_FULL_STEP_H

/* A step to the caller by all that an unwind entry says, for all registers. */

#include "image/eh_frame.h"
#include "watch/unwind/stack_read.h"

/* Steps from a pc that the FDE covers, in the FDE's address space. *REGISTERS
 * become the caller's; they are left alone if that fails. A register that
 * nothing is said about is as it was. */
enum swz_step swz_full_step(const struct swz_fde *fde, uint64_t pc,
			    struct swz_registers *registers,
			    const struct swz_stack *stack);

#endif
