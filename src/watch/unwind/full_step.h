#ifndef SWZ_WATCH_UNWIND_FULL_STEP_H
#define SWZ_WATCH_UNWIND_FULL_STEP_H

/* A step to the caller by all that an unwind entry says, for all registers. */

#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "watch/unwind/unwinder.h"

/* How a step to the caller's frame went. */
enum swz_step {
	SWZ_STEP_DONE,
	SWZ_STEP_ROOT, /* there is no caller */
	SWZ_STEP_CUT,  /* what is needed lies beyond the copy of the stack */
	SWZ_STEP_LOST
};

/* As swz_stack_load, of what the copy does not have. */
enum swz_step swz_stack_load_elsewhere(const struct swz_stack *stack,
				       uint64_t address, void *into,
				       size_t size);

/* The 8 bytes at the address: SWZ_STEP_DONE, _CUT or _LOST. */
static inline enum swz_step swz_stack_load(const struct swz_stack *stack,
					   uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack->start;

	if (stack->size < sizeof(*value) || at > stack->size - sizeof(*value))
		return swz_stack_load_elsewhere(stack, address, value,
						sizeof(*value));
	memcpy(value, stack->bytes + at, sizeof(*value));
	return SWZ_STEP_DONE;
}

/* DWARF expressions in call frame information (DWARF 5, 2.5 and 6.4.2). */

/* Evaluates the expression; *VALUE is what it leaves on top. FIRST, unless
 * NULL, is pushed before (the CFA, for a register's rule). SWZ_STEP_LOST: it is
 * damaged, or uses what has no meaning here; _CUT: it reads what is not in the
 * copy of the stack. */
enum swz_step swz_expression_value(struct swz_bytes expression,
				   const struct swz_registers *registers,
				   const struct swz_stack *stack,
				   const uint64_t *first, uint64_t *value);

/* Steps from a pc that the FDE covers, in the FDE's address space. *REGISTERS
 * become the caller's; they are left alone if that fails. A register that
 * nothing is said about is as it was. */
enum swz_step swz_full_step(const struct swz_fde *fde, uint64_t pc,
			    struct swz_registers *registers,
			    const struct swz_stack *stack);

/* Frames of signals where no unwind entry describes them: musl's, Go's. */

/* So much code is looked at before an instruction, and as much behind. */
#define SWZ_CODE_BEFORE 9

/* The instruction at CODE belongs to what a signal handler returns to: a call
 * of rt_sigreturn. */
bool swz_is_signal_return(const uint8_t *code);

/* Steps from there to what the signal interrupted: its registers are on the
 * stack. */
enum swz_step swz_step_signal(struct swz_registers *registers,
			      const struct swz_stack *stack);

#endif
