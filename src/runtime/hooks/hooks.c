/* Frames end in any order: by return, which names the thunk; by an exception,
 * which names it too (src/runtime/hooks/unwind.c); by longjmp, which says
 * nothing and is noticed when an older frame of the same stack ends; or they
 * are suspended with their stack and come back, perhaps on another thread,
 * perhaps twice. So nothing here trusts `top` or `link` further than to account
 * time. Where the program goes on rests on what never changes in a thunk
 * (thunks/arena.h). */

#include "runtime/hooks/hooks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/syscall.h"
#include "runtime/hooks/code_callers.h"
#include "runtime/hooks/followers.h"
#include "runtime/hooks/landing.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/leave_frame.h"
#include "runtime/hooks/pause.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/tail_calls.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/foreign_callers.h"
#include "runtime/module/known_code.h"
#include "runtime/record/activation.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/frames.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/processor_time.h"
#include "runtime/record/switches.h"
#include "runtime/record/sampling.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/slow_stack.h"

struct swz_thread *swz_current_thread(void)
{
	return swz_thread_here() ? swz_this_thread(NULL, NULL) : NULL;
}

void swz_hooks_go_quiet(void)
{
	struct swz_thread *thread = swz_this_thread(NULL, NULL);

	if (thread)
		swz_stock_up(thread);
	swz_system_calls_end = true;
}

void swz_hooks_stop(void)
{
	struct swz_thread *thread = swz_thread_here();

	swz_recording = false;
	if (!thread)
		return;
	/* off the paths in assembly: no thunk is free, and none the latest */
	thread->links = NULL;
	thread->expected = NULL;
	thread->top = &swz_bottom;
}

uint64_t swz_exit(struct swz_thunk *thunk, uint64_t *slot)
{
	struct swz_thread *thread = swz_thread_here();

	if (swz_is_landing(thunk))
		return swz_landing_arrive(thunk, slot);
	if (thread)
		thunk = swz_frame_at(thread, thunk, slot);
	thread = swz_this_thread(thunk, thunk->slot);
	if (!thread)
		return 0;
	if (swz_thread_is_paused())
		swz_pause_catch_up(thread, thread->top->slot - 1);
	swz_leave_frame(thread, thunk, slot, SWZ_EVENT_RETURN);
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
	return 0;
}

/* -------------------------------------------------------------- entering */

/* Which context this is shows only when what a longjmp has cut off is closed.
 */
static bool is_wanted(struct swz_thread *thread, uint64_t *slot,
		      uint32_t function)
{
	const struct swz_node *context;

	if (!swz_arena_contains(*slot)) {
		if (thread->top->slot <= slot)
			swz_close_skipped(thread, slot, NULL);
	} else {
		struct swz_thunk *thunk = swz_frame_at(
			thread, swz_arena_thunk_at(*slot), slot);

		if (thunk->slot == slot && thread->top != thunk &&
		    swz_thread_owns(thread, thunk) && thunk->node &&
		    thunk->pending != SWZ_CLOSED)
			swz_make_latest(thread, thunk);
	}
	context = swz_context_node(thread->key);
	if (!(context->open & SWZ_NODE_PASS))
		return true;
	return context->function == SWZ_FUNCTION_ROOT &&
	       swz_ids_filter(function) & SWZ_FILTER_ONLY;
}

/* Where the call is not timed: not a time, but later than the caller's. */
static uint64_t untimed_start(const struct swz_thunk *caller)
{
	return swz_start_like(SWZ_START_UNTIMED | SWZ_START_UNSEEN,
			      caller->start_ticks + SWZ_START_STEP);
}

/* When an activation starts: not before its caller's, which may be no time. */
static uint64_t start_now(const struct swz_thread *thread,
			  const struct swz_thunk *caller, uint64_t bits)
{
	uint64_t now = swz_now(thread), least;

	least = swz_start_time(caller->start_ticks + SWZ_START_STEP);
	return swz_sampling ? swz_start_like(bits, now > least ? now : least)
			    : now;
}

/* The program's %rbp, as the entry hooks have saved it. */
static const uint64_t *frame_of(const uint64_t *slot)
{
	return (const uint64_t *)(uintptr_t)slot[-SWZ_SAVED_RBP / 8];
}

/* The edge of a call, made if need be; NULL: there is no room. A new one, with
 * the latest frame far above, may be none of that frame's callee: then frames
 * are closed that were left unseen. */
static struct swz_node *edge_of(struct swz_thread *thread, const uint8_t *body,
				uint64_t *slot, uint32_t function,
				struct swz_thunk **thunk)
{
	const uint64_t *frame = frame_of(slot);
	uint64_t site = *slot, key = thread->key, asked = key;
	struct swz_node *node = swz_edge_find(thread, key, function, site);
	bool is_of_file;

	if (node)
		return node;
	key = swz_known_code_caller(thread, key, slot, frame);
	is_of_file = key == thread->key;
	if (key && !is_of_file)
		node = swz_edge_find(thread, key, function, site);
	if (node)
		return node;
	if (swz_is_far_above(thread, slot))
		swz_close_above(thread, slot);
	key = is_of_file ? thread->key
			 : swz_code_caller(thread, thread->key, slot, frame);
	return (key == asked ? swz_make_edge : swz_take_edge)(
		thread, key, function, site, body, slot, thunk);
}

static struct swz_thunk *enter_call(struct swz_thread *thread,
				    const uint8_t *body, uint64_t *slot,
				    uint32_t function)
{
	struct swz_thunk *thunk = NULL;
	struct swz_node *node;
	uint64_t start, bits = 0;

	if (thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	node = edge_of(thread, body, slot, function, &thunk);
	if (node && !thunk)
		thunk = swz_take_thunk(thread, node, body, slot);
	if (!node || !thunk) {
		swz_lose_call();
		return NULL;
	}
	*thread->expected = swz_unit_of(node);
	thread->expected = &thread->links[node->context].first;
	if (swz_sampling)
		bits = swz_sampling_decide(thread, node);
	thunk->start_ticks = 0;
	thunk->slot = slot;
	thunk->node = swz_unit_of(node);
	/* not the node's where that is folded, or beneath code made at run
	 * time: it is for the exit */
	thunk->parent = (uint32_t)(thread->key >> 32);
	thunk->link = thread->top;
	/* in the order of asm/x86_64/enter.S, against signals */
	if (thread->cold->first_to_come && thunk->link == &swz_bottom) {
		thunk->pending = SWZ_FIRST_FRAME;
		thread->cold->first_frame = thunk;
	}
	thread->cold->first_to_come = false;
	thread->top = thunk;
	thread->key = (uint64_t)node->context << 32;
	atomic_signal_fence(memory_order_seq_cst);
	start = bits & SWZ_START_UNTIMED ? untimed_start(thunk->link)
					 : start_now(thread, thunk->link, bits);
	thunk->start_ticks = start;
	atomic_signal_fence(memory_order_seq_cst);
	swz_activation_enter(thread, node, start);
	if (swz_start_is_timed(start))
		thread->record->last_ticks = swz_ticks_of(thread, start);
	return thunk;
}

struct swz_thunk *swz_enter_frame(const uint8_t *body, uint64_t *slot)
{
	uint32_t function = ((const uint32_t *)(const void *)body)[-1];
	struct swz_thread *thread;

	if (!swz_recording) {
		if (swz_system_calls_end)
			swz_lose_call();
		return NULL;
	}
	if (swz_pause_concerns() && swz_pause_passes(slot))
		return NULL;
	thread = swz_this_thread(NULL, slot);
	if (!thread) {
		if (swz_recording)
			swz_lose_call();
		return NULL;
	}
	swz_context_mend_key(thread);
	if (swz_ids_filtered && !is_wanted(thread, slot, function))
		return NULL;
	if (swz_arena_contains(*slot)) {
		struct swz_thunk *thunk = swz_frame_at(
			thread, swz_arena_thunk_at(*slot), slot);

		if (thunk->slot == slot)
			swz_enter_by_jump(thread, thunk, function);
		else
			swz_lose_call(); /* a copy of a frame that we know
					  */
		return NULL;
	}
	if (swz_foreign_callers_pass(function, *slot) ||
	    swz_known_code_pass(function, *slot))
		return NULL;
	return enter_call(thread, body, slot, function);
}

const uint8_t *swz_enter(const uint8_t *body, uint64_t *slot)
{
	const struct swz_thunk *thunk = swz_enter_frame(body, slot);

	return thunk ? swz_thunk_code(thunk) : NULL;
}
