#include "runtime/hooks/pause.h"

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/spans.h"
#include "runtime/record/context.h"
#include "runtime/record/marks.h"
#include "runtime/record/span_names.h"

static void put_aside(struct swz_thread *thread, const struct swz_thread *state)
{
	swz_thread_aside = thread;
	atomic_signal_fence(memory_order_seq_cst);
	swz_thread_self = (struct swz_thread *)state;
}

static void take_back(struct swz_thread *thread)
{
	swz_thread_self = thread;
	atomic_signal_fence(memory_order_seq_cst);
}

static uint32_t paused_id(struct swz_thread *thread)
{
	return swz_span_id(thread, SWZ_SPAN_PAUSED);
}

/* A time of the request's, as the thread can have it: nothing that it has
 * recorded is later. */
static uint64_t possible(const struct swz_thread *thread, const uint64_t *field)
{
	uint64_t ticks = __atomic_load_n(field, __ATOMIC_RELAXED);
	uint64_t now = swz_ticks();

	if (ticks > now)
		ticks = now;
	return ticks > thread->record->last_ticks ? ticks
						  : thread->record->last_ticks;
}

/* When the process was paused or resumed. */
static uint64_t change_ticks(const struct swz_thread *thread)
{
	return possible(thread, &swz_request()->changed_ticks);
}

static bool is_in_pause(struct swz_thread *thread)
{
	return swz_context_node(thread->key)->function == paused_id(thread);
}

static void begin(struct swz_thread *thread, const uint64_t *slot,
		  const struct swz_thread *state, uint64_t ticks)
{
	swz_span_begin(thread, slot, paused_id(thread), SWZ_CALL_SITE_TAIL,
		       ticks);
	put_aside(thread, state);
}

static void end(struct swz_thread *thread, const uint64_t *slot, uint64_t ticks)
{
	take_back(thread);
	swz_span_end(thread, slot, paused_id(thread), ticks);
}

void swz_pause_thread(struct swz_thread *thread, const uint64_t *slot)
{
	uint64_t ticks = swz_ticks();

	if (thread->cold->pauses)
		return;
	thread->cold->pauses = true;
	swz_marks_add(thread, SWZ_MARK_PAUSED, "", 0, ticks);
	if (swz_thread_is_paused())
		put_aside(thread, &swz_paused_thread);
	else
		begin(thread, slot, &swz_paused_thread, ticks);
}

void swz_resume_thread(struct swz_thread *thread, const uint64_t *slot)
{
	uint64_t ticks = swz_ticks();

	if (!thread->cold->pauses)
		return;
	thread->cold->pauses = false;
	if (swz_request_is_paused())
		put_aside(thread, &swz_paused_process);
	else
		end(thread, slot, ticks);
	swz_marks_add(thread, SWZ_MARK_RESUMED, "", 0, ticks);
}

void swz_pause_catch_up(struct swz_thread *thread, const uint64_t *slot)
{
	if (thread->cold && !is_in_pause(thread))
		swz_span_begin(thread, slot, paused_id(thread),
			       SWZ_CALL_SITE_TAIL,
			       possible(thread, &swz_request()->stopped_ticks));
}

bool swz_pause_passes(const uint64_t *slot)
{
	struct swz_thread *thread = swz_thread_here();

	if (swz_request_is_paused()) {
		/* one that has no state yet, or its parent's, gets none */
		if (!swz_thread_is_paused() && thread && thread->cold)
			begin(thread, swz_slot_below(slot), &swz_paused_process,
			      change_ticks(thread));
		return true;
	}
	if (swz_thread_self == &swz_paused_process) {
		swz_pause_catch_up(thread, swz_slot_below(slot));
		take_back(thread);
		if (thread->cold)
			end(thread, swz_slot_below(slot), change_ticks(thread));
	}
	return swz_thread_is_paused();
}

void swz_pause_goes_on(struct swz_thread *thread, const uint64_t *slot)
{
	if (!thread->cold->pauses && !swz_request_is_paused()) {
		end(thread, slot, change_ticks(thread));
		return;
	}
	if (!is_in_pause(thread))
		swz_span_begin(thread, slot, paused_id(thread),
			       SWZ_CALL_SITE_TAIL, swz_ticks());
}
