#ifndef SWZ_WATCH_UNWIND_SIGNAL_FRAME_H
#define SWZ_WATCH_UNWIND_SIGNAL_FRAME_H

/* Frames of signals where no unwind entry describes them: musl's, Go's. */

#include "watch/unwind/stack_read.h"

/* The instruction at PC, or the one that begins behind it, as a return address
 * leads there, belongs to the code that a signal handler returns to: a call of
 * rt_sigreturn. READ reads code as swz_stack.read does. */
bool swz_is_signal_return(bool (*read)(void *context, uint64_t address,
				       void *into, size_t size),
			  void *context, uint64_t pc);

/* Steps from there to what the signal interrupted: its registers are on the
 * stack. */
enum swz_step swz_step_signal(struct swz_registers *registers,
			      const struct swz_stack *stack);

#endif
