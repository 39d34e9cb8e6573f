#include "runtime/hooks/spans.h"

#include <stddef.h>

#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/activation.h"
#include "runtime/record/context.h"
#include "runtime/record/frames.h"
#include "runtime/record/marks.h"
#include "runtime/record/sampling.h"
#include "runtime/record/span_names.h"

static bool is_span(uint32_t unit)
{
	const struct swz_node *node = swz_unit_at(unit);

	return swz_is_span(node->function);
}

/* What runs at this slot. */
static struct swz_thunk *latest(struct swz_thread *thread, const uint64_t *slot)
{
	if (thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	return thread->top;
}

static bool can_hold(const struct swz_thread *thread,
		     const struct swz_thunk *frame)
{
	return swz_thread_owns(thread, frame) && frame->node &&
	       frame->pending != SWZ_CLOSED;
}

/* Not before what it is in: where calls are not timed that may be no time. */
static uint64_t start_at(const struct swz_thread *thread,
			 const struct swz_thunk *frame, uint64_t ticks)
{
	uint64_t now = ticks - thread->epoch, least;

	if (!swz_sampling)
		return now;
	least = swz_start_time(frame->start_ticks + SWZ_START_STEP);
	return swz_start_like(0, now > least ? now : least);
}

static bool hold(struct swz_thread *thread, struct swz_thunk *frame,
		 struct swz_node *node, uint64_t start)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_thunk *record;

	if (frame == &swz_bottom) {
		if (cold->span_count == SWZ_MOST_ROOT_SPANS)
			return false;
		cold->spans[cold->span_count++] = (struct swz_root_span){
			swz_unit_of(node), start};
		return true;
	}
	record = can_hold(thread, frame) ? swz_take_record(thread) : NULL;
	if (!record)
		return false;
	record->node = swz_unit_of(node);
	record->start_ticks = start;
	swz_frame_push_record(frame, record);
	return true;
}

void swz_span_begin(struct swz_thread *thread, const uint64_t *slot,
		    uint32_t id, uint64_t call_site, uint64_t ticks)
{
	struct swz_thunk *frame = latest(thread, slot);
	struct swz_node *node;
	uint64_t start;

	swz_context_mend_key(thread);
	if (swz_context_node(thread->key)->open & SWZ_NODE_PASS)
		return;
	node = id ? swz_take_edge(thread, thread->key, id, call_site, NULL,
				  NULL, NULL)
		  : NULL;
	start = start_at(thread, frame, ticks);
	if (!node || !hold(thread, frame, node, start)) {
		swz_marks_lose();
		return;
	}
	thread->key = swz_activation_enter(thread, node, start);
	thread->expected = &thread->links[node->context].first;
	thread->record->last_ticks = ticks;
}

static void leave(struct swz_thread *thread, uint32_t unit, uint64_t start,
		  uint64_t now)
{
	swz_activation_leave(thread, swz_unit_at(unit), start,
			     now > start ? now : start, SWZ_EVENT_RETURN);
}

static bool end_in_root(struct swz_thread *thread, uint32_t id, uint64_t now)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_root_span span;
	const struct swz_node *node;

	if (!cold->span_count)
		return false;
	span = cold->spans[cold->span_count - 1];
	node = swz_unit_at(span.node);
	if (id && node->function != id)
		return false;
	cold->span_count--;
	leave(thread, span.node, span.start, now);
	return true;
}

static bool end_in_frame(struct swz_thread *thread, struct swz_thunk *frame,
			 uint32_t id, uint64_t now)
{
	struct swz_thunk *record = frame->pending;
	const struct swz_node *node;

	if (!can_hold(thread, frame) || !swz_is_record(record) ||
	    !is_span(record->node))
		return false;
	node = swz_unit_at(record->node);
	if (id && node->function != id)
		return false;
	record = swz_frame_pop_record(frame);
	if (!record)
		return false;
	leave(thread, record->node, record->start_ticks, now);
	swz_thread_free_record(thread, record);
	return true;
}

bool swz_span_end(struct swz_thread *thread, const uint64_t *slot, uint32_t id,
		  uint64_t ticks)
{
	struct swz_thunk *frame = latest(thread, slot);
	uint64_t now = ticks - thread->epoch;
	bool ended = frame == &swz_bottom
			     ? end_in_root(thread, id, now)
			     : end_in_frame(thread, frame, id, now);

	if (!ended)
		return false;
	swz_set_key(thread, frame);
	thread->expected = &thread->links[thread->key >> 32].first;
	thread->record->last_ticks = ticks;
	return true;
}
