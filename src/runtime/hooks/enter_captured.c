/* The entry of a call whose arguments are recorded: as any other, and its
 * arguments behind it, before the function has done anything. Functions at
 * which recording starts or stops come here, too. */

#include "runtime/hooks/captured.h"

#include <stddef.h>

#include "runtime/hooks/hooks.h"
#include "runtime/hooks/triggers.h"
#include "runtime/record/frames.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"

static void enter(struct swz_thread *thread, const struct swz_captured *c,
		  const struct swz_thunk *thunk, const uint64_t *slot)
{
	swz_values_enter(thread, c, thunk->node,
			 swz_ticks_of(thread, thunk->start_ticks), thunk, slot);
}

struct swz_thunk *swz_enter_captured(const uint8_t *body, uint64_t *slot)
{
	uint32_t function = ((const uint32_t *)(const void *)body)[-1];
	const struct swz_captured *c = swz_signature_of(function);
	struct swz_thunk *before = NULL, *frame = NULL, *thunk;
	struct swz_thread *thread;

	if (c && swz_arena_contains(*slot)) {
		frame = swz_arena_thunk_at(*slot);
		before = frame->pending;
	}
	if (swz_config_has_triggers())
		swz_triggers_pull(function, slot);
	thunk = swz_enter(body, slot);
	thread = c ? swz_thread_here() : NULL;
	if (!thread || !thread->cold)
		return thunk;
	if (thunk) {
		if (!thunk->pending && c->return_parts)
			thunk->pending = SWZ_FIRST_FRAME;
		enter(thread, c, thunk, slot);
	} else if (frame && frame->slot == slot && frame->pending != before &&
		   swz_is_record(frame->pending)) {
		/* it was jumped to */
		if (c->return_parts)
			frame->pending->return_address = SWZ_RECORD_CAPTURED;
		enter(thread, c, frame->pending, slot);
	}
	return thunk;
}
