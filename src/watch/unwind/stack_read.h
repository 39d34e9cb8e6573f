#ifndef SWZ_WATCH_UNWIND_STACK_READ_H
#define SWZ_WATCH_UNWIND_STACK_READ_H

/* Reads from the copy of a stack, or else by its owner's function. */

#include <string.h>

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

#endif
