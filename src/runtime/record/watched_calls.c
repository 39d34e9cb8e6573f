/* One call at a time of each thread is watched: from its entry its events go to
 * chunks of its own, and at its end it is decided what becomes of them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/record/annotations.h"
#include "runtime/record/events.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"

void swz_watched_calls_begin(struct swz_thread *thread)
{
	struct swz_chunk *chunk = thread->cold->events;

	swz_events_leave_out(thread);
	if (chunk) {
		chunk->type = SWZ_CHUNK_PADDING;
		swz_event_chunk_leave(chunk);
	}
	swz_kept_calls_begin();
}

/* False: an interrupted hook of this thread is at it. One that a longjmp has
 * left lies no deeper than what is called now. */
static bool claim(struct swz_watched_call *call, const uint64_t *slot)
{
	const uint64_t *by = call->changing;

	if (by && by >= slot)
		return false;
	call->changing = slot;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static void give_back(struct swz_watched_call *call)
{
	atomic_signal_fence(memory_order_seq_cst);
	call->changing = NULL;
}

static void make_spare(void *argument)
{
	struct swz_thread *thread = argument;
	/* the next call may be the slowest */
	struct swz_chunk *chunk = swz_kept_calls_take(thread, SWZ_CHUNK_EVENTS,
						      UINT64_MAX);

	if (!chunk)
		return;
	chunk->type = SWZ_CHUNK_PADDING;
	swz_chunk_publish(chunk);
	thread->cold->watched.spare = chunk;
}

/* Leaves what the call has recorded. The chunk of its events, if it needed one
 * alone, is for the thread's next call. */
static void discard(struct swz_thread *thread)
{
	struct swz_watched_call *call = &thread->cold->watched;
	struct swz_chunk *chunk = thread->cold->events;
	uint64_t end = swz_events_leave_out(thread);

	if (chunk && call->chunks == swz_unit_of(chunk) &&
	    !chunk->reserved[SWZ_CALL_NEXT] && end) {
		chunk->type = SWZ_CHUNK_PADDING;
		atomic_signal_fence(memory_order_seq_cst);
		memset(chunk + 1, 0, end - (uintptr_t)(chunk + 1));
		call->spare = chunk;
		call->chunks = 0;
	} else {
		swz_kept_calls_free(call);
	}
}

struct keeping {
	struct swz_thread *thread;
	uint64_t ticks;
	enum swz_call_state state;
	uint32_t at; /* of an ordinary one */
	uint8_t rule;
};

/* On the slow stack. */
static void keep(void *argument)
{
	const struct keeping *k = argument;

	swz_switches_take(k->thread);
	swz_events_leave_out(k->thread);
	swz_kept_calls_keep(&k->thread->cold->watched, k->rule, k->state,
			    k->ticks, k->at);
}

/* The call has ended, and its slot is free: what is recorded of it stays, or
 * does not. */
static void decide(struct swz_thread *thread, uint64_t ticks)
{
	struct swz_watched_call *call = &thread->cold->watched;
	struct keeping k = {.thread = thread,
			    .ticks = ticks,
			    .rule = call->rule,
			    .state = SWZ_CALL_SLOW};

	if (!swz_kept_calls_count(k.rule, ticks)) {
		k.state = SWZ_CALL_ORDINARY;
		k.at = swz_kept_calls_choose(k.rule, ticks);
		if (call->other) {
			k.state = SWZ_CALL_SLOW;
			k.rule = (uint8_t)(call->other - 1u);
			k.ticks = call->other_ticks;
		}
	}
	if (k.state == SWZ_CALL_SLOW
		    ? swz_kept_calls_would_keep(k.rule, k.ticks)
		    : k.at < swz_config.slow_keep)
		swz_slowly(thread, keep, &k);
	/* not kept, or the slow stack is in use */
	if (call->chunks)
		discard(thread);
	swz_events_leave_out(thread);
	call->by = call->inner_by = NULL;
	call->slot = NULL;
}

/* Its end may have been another thread's. */
static bool is_gone(const struct swz_watched_call *call)
{
	return !call->by || call->frame->slot != call->slot;
}

static void leave_gone(struct swz_thread *thread)
{
	struct swz_watched_call *call = &thread->cold->watched;

	swz_kept_calls_miss(call->rule);
	discard(thread);
	call->by = call->inner_by = NULL;
	call->slot = NULL;
}

static bool begin(struct swz_thread *thread, uint8_t rule, const uint64_t *slot)
{
	struct swz_watched_call *call = &thread->cold->watched;
	struct swz_chunk *chunk;

	if (!call->spare)
		swz_slowly(thread, make_spare, thread);
	chunk = call->spare;
	if (!chunk)
		return false;
	swz_switches_pass(thread);
	*call = (struct swz_watched_call){
		.number = swz_kept_calls_next_number(),
		.rule = rule,
		.start = swz_now(thread),
		.changing = call->changing,
	};
	chunk->owner = thread->cold->index;
	swz_kept_calls_add(call, chunk, swz_ticks_of(thread, call->start));
	call->slot = slot;
	swz_events_begin_call(thread, chunk);
	return true;
}

bool swz_watched_calls_enter(struct swz_thread *thread, uint8_t flags,
			     const uint64_t *slot)
{
	struct swz_watched_call *call = &thread->cold->watched;
	uint8_t rule = (uint8_t)((flags >> SWZ_FILTER_SLOW_SHIFT) - 1);
	bool watched = false, missed = false;

	if (!swz_kept_calls_has(rule))
		return false;
	if (!claim(call, slot)) {
		swz_kept_calls_miss(rule);
		return false;
	}
	if (call->slot && is_gone(call))
		leave_gone(thread);
	if (!call->slot) {
		watched = begin(thread, rule, slot);
		missed = !watched;
	} else if (call->rule != rule && !call->inner_by) {
		call->inner_rule = rule;
		call->inner_slot = slot;
		watched = true;
	} else {
		missed = call->suspended;
	}
	if (missed)
		swz_kept_calls_miss(rule);
	give_back(call);
	return watched;
}

void swz_watched_calls_entered(struct swz_thread *thread,
			       const struct swz_thunk *by,
			       const struct swz_thunk *frame)
{
	struct swz_watched_call *call = &thread->cold->watched;

	if (call->by && call->inner_slot) {
		call->inner_start = by ? by->start_ticks : 0;
		call->inner_by = by;
		call->inner_slot = NULL;
	} else if (by) {
		call->start = by->start_ticks;
		call->frame = frame;
		call->by = by;
	} else {
		discard(thread);
		call->slot = NULL;
	}
}

void swz_watched_calls_note_end(struct swz_thread *thread,
				const struct swz_thunk *by, uint64_t now,
				enum swz_event_kind how)
{
	struct swz_watched_call *call = &thread->cold->watched;
	uint64_t ticks = now - call->start;

	call->suspended = how == SWZ_EVENT_SUSPEND;
	if (call->suspended)
		return;
	if (call->by == by) {
		if (claim(call, call->slot)) {
			decide(thread, ticks);
			give_back(call);
		}
		return;
	}
	ticks = now - call->inner_start;
	call->inner_by = NULL;
	if (swz_kept_calls_count(call->inner_rule, ticks) &&
	    ticks > call->other_ticks) {
		call->other = call->inner_rule + 1;
		call->other_ticks = ticks;
	}
}

void swz_watched_calls_end_thread(struct swz_thread *thread)
{
	struct swz_watched_call *call = &thread->cold->watched;

	call->changing = NULL;
	if (call->slot)
		decide(thread, thread->record->last_ticks -
				       swz_ticks_of(thread, call->start));
}
