#include "runtime/hooks/tail_calls.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/hooks/jumps.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/leave.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/activation.h"
#include "runtime/record/context.h"
#include "runtime/record/events.h"
#include "runtime/record/frames.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/sampling.h"

static uint32_t function_of(const struct swz_thunk *thunk)
{
	const struct swz_node *node = swz_unit_at(thunk->node);

	return node->function;
}

/* Whether the frame stands for the function already; *after is then the last
 * record that came after it, NULL if it is the latest itself. */
static bool stands_for(struct swz_thunk *thunk, uint32_t function,
		       struct swz_thunk **after, unsigned *length)
{
	*after = NULL;
	*length = 0;
	for (struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = p->pending) {
		if (function_of(p) == function)
			return true;
		*after = p;
		++*length;
	}
	return function_of(thunk) == function;
}

/* Ends the frame's latest activations up to and with `last`. */
static void end_pending(struct swz_thread *thread, struct swz_thunk *thunk,
			const struct swz_thunk *last, uint64_t now)
{
	struct swz_thunk *p;

	do {
		p = swz_frame_pop_record(thunk);
		if (!p)
			return;
		swz_activation_leave(thread, swz_unit_at(p->node),
				     p->start_ticks, now, SWZ_EVENT_RETURN);
		swz_events_unmute(thread, p);
		swz_thread_free_record(thread, p);
	} while (p != last);
}

/* The latest frame was on another stack than the one whose slot this is: that
 * one's stack has been switched to, and may have been to begin from anew, as
 * Crystal does where a fiber has ended, without a return address that a new
 * one's first function would return to. What finds its own thunk there then has
 * not jumped to itself. */
static bool was_elsewhere(const struct swz_thread *thread,
			  const uint64_t *latest, const struct swz_thunk *thunk)
{
	return latest != thunk->slot &&
	       !(swz_thread_at_home(thread, latest) &&
		 swz_thread_at_home(thread, thunk->slot));
}

/* How many functions may be pending on one frame; beyond, the latest ends when
 * it jumps, and its successor counts as called from the same place. */
#define MOST_PENDING SWZ_MOST_JUMPS

void swz_enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
		       uint32_t function)
{
	uint64_t now = swz_now(thread), bits = 0;
	struct swz_thunk *after, *record;
	const uint64_t *latest;
	struct swz_node *node;
	unsigned length;
	bool again;

	if (!swz_thread_owns(thread, thunk) || thunk->pending == SWZ_CLOSED ||
	    !thunk->node) {
		/* of accounts that are another thread's, or closed */
		node = swz_take_edge(thread, thread->key, function,
				     SWZ_CALL_SITE_TAIL, NULL, NULL, NULL);
		if (node)
			swz_activation_count(thread, node);
		else
			swz_lose_call();
		return;
	}
	latest = thread->top->slot;
	if (thread->top != thunk)
		swz_make_latest(thread, thunk);
	thread->top = thunk;
	if (swz_jumps_lead_to(thunk, function))
		swz_jumps_spell_out(thread, thunk, swz_take_record);
	again = stands_for(thunk, function, &after, &length);
	if (again && !after) {
		/* otherwise a loop to the function's first instruction */
		if (was_elsewhere(thread, latest, thunk))
			swz_activation_count(thread, swz_frame_node(thunk));
		return;
	}
	node = swz_take_edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL,
			     NULL, NULL, NULL);
	if (!node) {
		swz_lose_call();
		return;
	}
	if (again) {
		end_pending(thread, thunk, after, now);
		swz_activation_count(thread, node);
		thread->key = (uint64_t)swz_frame_node(thunk)->context << 32;
		return;
	}
	if (length >= MOST_PENDING) {
		end_pending(thread, thunk, thunk->pending, now);
		thread->key = (uint64_t)swz_frame_node(thunk)->context << 32;
		node = swz_take_edge(thread, thread->key, function,
				     SWZ_CALL_SITE_TAIL, NULL, NULL, NULL);
	}
	record = swz_take_record(thread);
	if (!node || !record) {
		swz_lose_call();
		return;
	}
	if (swz_sampling)
		bits = swz_sampling_decide(thread, node);
	now = swz_now(thread);
	record->node = swz_unit_of(node);
	record->start_ticks = swz_start_like(bits, now);
	swz_frame_push_record(thunk, record);
	thread->record->last_ticks = swz_ticks_of(thread, now);
	thread->key = swz_activation_enter(thread, node, record->start_ticks);
	*thread->expected = swz_unit_of(node);
	thread->expected = &thread->links[node->context].first;
}
