/* A thread's stack ends just below what %fs points to, with the thread's own
 * variables in between. Its outermost frames may be far from the others: Ruby
 * has a stack of its own, of a megabyte, in between. */

#include "watch/stack_copy.h"

#include <string.h>

#include "launch/sampling.h"
#include "watch/proc_task.h"

#define MOST_THREAD_STACK (1ull << 28)

static uint8_t copy[SWZ_MOST_STACK_BYTES], outermost[16384];
static uint64_t outermost_start;

static bool read_outermost(void *context, uint64_t address, void *into,
			   size_t size)
{
	const uint64_t at = address - outermost_start;

	(void)context;
	if (at >= sizeof(outermost) || size > sizeof(outermost) - at)
		return false;
	memcpy(into, outermost + at, size);
	return true;
}

void swz_stack_copy(int32_t tid, uint64_t sp, uint64_t thread_pointer,
		    size_t bytes, struct swz_stack *stack)
{
	if (bytes > sizeof(copy))
		bytes = sizeof(copy);
	*stack = (struct swz_stack){
		.start = sp,
		.bytes = copy,
		.size = swz_proc_memory(tid, sp, copy, bytes)};
	if (thread_pointer <= sp || thread_pointer - sp <= stack->size ||
	    thread_pointer - sp > MOST_THREAD_STACK)
		return;
	outermost_start = thread_pointer - sizeof(outermost);
	if (swz_proc_memory(tid, outermost_start, outermost,
			    sizeof(outermost)) == sizeof(outermost))
		stack->read = read_outermost;
}
