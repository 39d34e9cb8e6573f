#include "watch/unwind/stack_read.h"

enum swz_step swz_stack_load_elsewhere(const struct swz_stack *stack,
				       uint64_t address, void *into,
				       size_t size)
{
	uint64_t at = address - stack->start;

	if (at <= stack->size && size <= stack->size - at) {
		memcpy(into, stack->bytes + at, size);
		return SWZ_STEP_DONE;
	}
	if (stack->read && stack->read(stack->context, address, into, size))
		return SWZ_STEP_DONE;
	return address >= stack->start ? SWZ_STEP_CUT : SWZ_STEP_LOST;
}
