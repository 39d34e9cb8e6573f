#ifndef SWZ_WATCH_UNWIND_SIGNAL_FRAME_H
#define SWZ_WATCH_UNWIND_SIGNAL_FRAME_H

/* Frames of signals where no unwind entry describes them: musl's, Go's. */

#include "watch/unwind/stack_read.h"

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
