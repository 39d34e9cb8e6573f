/* The entry of a call whose arguments are recorded: as any other, and its
 * arguments behind it, before the function has done anything. Functions at
 * which recording starts or stops come here, too. */

#include "runtime/hooks/captured.h"

#include <stddef.h>

#include "runtime/hooks/followers.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/pause.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/triggers.h"
#include "runtime/record/events.h"
#include "runtime/record/frames.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"

static void enter(struct swz_thread *thread, const struct swz_captured *c,
		  const struct swz_thunk *thunk, const uint64_t *slot)
{
	swz_values_enter(thread, c, thunk->node,
			 swz_ticks_of(thread, thunk->start_ticks), thunk, slot);
}

/* Whether the call, which is about to be entered, is none of those that are to
 * be recorded. */
static bool is_left_out(const struct swz_captured *c, uint64_t *slot)
{
	struct swz_thread *thread;

	if (!swz_recording || swz_thread_is_paused())
		return false;
	thread = swz_this_thread(NULL, slot);
	if (!thread || !thread->cold)
		return false;
	/* what a longjmp has cut off is no caller */
	if (!swz_arena_contains(*slot) && thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	if (thread->cold->muted_slot || swz_values_hold(thread, c, slot))
		return false;
	return swz_events_mute(thread, slot);
}

/* Until the call's end, which is to come to C. */
static void mute(struct swz_thread *thread, struct swz_thunk *thunk,
		 struct swz_thunk *jumped)
{
	if (thunk && !thunk->pending)
		thunk->pending = SWZ_FIRST_FRAME;
	if (jumped) {
		jumped->pending->return_address = SWZ_RECORD_CAPTURED;
		swz_events_mute_by(thread, jumped->pending, jumped);
	} else {
		swz_events_mute_by(thread, thunk, thunk);
	}
}

static struct swz_thunk *enter_captured(const uint8_t *body, uint64_t *slot)
{
	uint32_t function = ((const uint32_t *)(const void *)body)[-1];
	const struct swz_captured *c = swz_signature_of(function);
	struct swz_thunk *before = NULL, *frame = NULL, *thunk;
	struct swz_thread *thread;
	bool jumped, mutes = c && c->check_count && is_left_out(c, slot);

	if (c && swz_thread_here() && swz_arena_contains(*slot)) {
		frame = swz_frame_at(swz_thread_here(),
				     swz_arena_thunk_at(*slot), slot);
		before = frame->pending;
	}
	if (swz_config_has_triggers())
		swz_triggers_pull(function, slot);
	thunk = swz_enter_frame(body, slot);
	thread = c ? swz_thread_here() : NULL;
	if (!thread || !thread->cold)
		return thunk;
	jumped = !thunk && frame && frame->slot == slot &&
		 frame->pending != before && swz_is_record(frame->pending);
	if (mutes) {
		mute(thread, thunk, jumped ? frame : NULL);
		return thunk;
	}
	if (thread->cold->muted_slot)
		return thunk;
	if (thunk) {
		if (!thunk->pending && c->return_parts)
			thunk->pending = SWZ_FIRST_FRAME;
		enter(thread, c, thunk, slot);
	} else if (jumped) {
		if (c->return_parts)
			frame->pending->return_address = SWZ_RECORD_CAPTURED;
		enter(thread, c, frame->pending, slot);
	}
	return thunk;
}

const uint8_t *swz_enter_captured(const uint8_t *body, uint64_t *slot)
{
	const struct swz_thunk *thunk = enter_captured(body, slot);

	return thunk ? swz_thunk_code(thunk) : NULL;
}
