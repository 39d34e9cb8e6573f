#include "runtime/hooks/captured.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/record/frames.h"
#include "runtime/record/values.h"

/* A frame's function and those that it has gone on to have one result. */
void swz_captured_return(struct swz_thread *thread,
			 const struct swz_thunk *thunk, uint64_t now,
			 const uint64_t *slot)
{
	const struct swz_thunk *t = thunk->pending;

	if (t == SWZ_CLOSED)
		return;
	for (bool own = false; !own; t = t->pending) {
		const struct swz_captured *c;
		const struct swz_node *node;

		own = !swz_is_record(t);
		if (own)
			t = thunk;
		node = swz_unit_at(t->node);
		c = swz_signature_of(node->function);
		if (c)
			swz_values_return(thread, c, t->node,
					  swz_ticks_of(thread, now), t, slot);
	}
}

void swz_captured_exception(struct swz_thread *thread, uint32_t node,
			    const void *exception)
{
	const struct swz_node *of = swz_unit_at(node);

	if (swz_signature_of(of->function))
		swz_values_exception(thread, node, thread->record->last_ticks,
				     exception);
}
