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
#include "runtime/hooks/fork.h"
#include "runtime/hooks/jumps.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/leave.h"
#include "runtime/hooks/suspend.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/hooks/unwind.h"
#include "runtime/hooks/unwound.h"
#include "runtime/module/foreign_callers.h"
#include "runtime/module/known_code.h"
#include "runtime/record/activation.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/frames.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/nodes.h"
#include "runtime/record/sampling.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/slow_stack.h"

/* Of the landing to come, between the personality routine and the landing. */
static __thread const struct swz_unwinder *landing_unwinder
	__attribute__((tls_model("initial-exec")));

/* Of a thread for whose state there was no memory: when to try again. */
static __thread uint64_t begin_again_at
	__attribute__((tls_model("initial-exec")));

/* ----------------------------------------------------------- slow calls */

struct slow_call {
	struct swz_thread *thread;
	struct swz_thunk *exiting;
	const uint64_t *here;
	uint64_t key;
	uint64_t call_site;
	struct swz_node *node;
	uint32_t function;
	const uint8_t *body;
	const uint64_t *slot; /* with a body */
	struct swz_thunk *thunk;
};

static void slowly(void (*function)(void *), struct slow_call *call)
{
	swz_slowly(call->thread, function, call);
}

static void begin_thread(void *argument)
{
	struct slow_call *call = argument;

	if (call->thread)
		call->thread = swz_fork_child(call->thread, call->exiting,
					      call->here);
	else
		call->thread = swz_fork_begin_thread();
}

static void make_thunk(void *argument)
{
	struct slow_call *call = argument;

	call->thunk = swz_thread_take_thunk(call->thread, call->node,
					    call->body, call->slot);
}

static void make_record(void *argument)
{
	struct slow_call *call = argument;

	call->thunk = swz_thread_make_record(call->thread);
}

/* A thread may get its name any time, mostly early: it is looked at again with
 * each of the first new edges, and then less and less often. */
#define NAME_EACH 64u
#define NAME_OFTEN 1024u

static void note_name(struct swz_thread *thread)
{
	uint32_t made = thread->cold->nodes_made++;

	if (made < NAME_EACH ||
	    made % (made < NAME_OFTEN ? NAME_EACH : NAME_OFTEN) == 0)
		swz_thread_note_name(thread);
}

static void make_node(void *argument)
{
	struct slow_call *call = argument;
	struct swz_thread *thread = call->thread;

	/* again: a signal may have come between */
	call->node = swz_context_any_edge(thread, call->key, call->function,
					  call->call_site);
	if (call->node && call->body)
		make_thunk(call);
}

/* The state of a thread that has none yet, or only its parent's (`thread`). */
static __attribute__((noinline)) struct swz_thread *begun_thread(
	struct swz_thread *thread, struct swz_thunk *exiting,
	const uint64_t *here)
{
	struct slow_call call = {
		.thread = thread, .exiting = exiting, .here = here};

	if (swz_system_calls_end && swz_thread_in_new_child())
		return NULL; /* it takes files to go on in a child */
	if (thread) /* wiped by a fork, in which no slow stack is in use */
		atomic_flag_clear(&swz_thread_cold_of(thread)->busy);
	else if (!swz_thread_has_storage())
		return NULL;
	else if (begin_again_at && swz_ticks() < begin_again_at)
		return NULL;
	slowly(begin_thread, &call);
	if (!call.thread)
		begin_again_at = swz_ticks() + SWZ_RETRY_TICKS;
	return swz_recording ? call.thread : NULL;
}

/* The calling thread's state, made if need be; NULL: it runs unrecorded. HERE:
 * the return slot of the frame that the hook is for, or NULL. */
static struct swz_thread *this_thread(struct swz_thunk *exiting,
				      const uint64_t *here)
{
	struct swz_thread *thread = swz_thread_here();

	if (!swz_recording)
		return NULL;
	if (thread && thread->cold)
		return thread;
	return begun_thread(thread, exiting, here);
}

struct swz_thread *swz_current_thread(void)
{
	return swz_thread_here() ? this_thread(NULL, NULL) : NULL;
}

static void stock_up(void *argument)
{
	struct slow_call *call = argument;
	const uint64_t *here = __builtin_frame_address(0);

	swz_thread_stock_states();
	swz_thread_stock_up(call->thread);
	swz_nodes_stock_up(call->thread);
	swz_thread_same_stack(call->thread, here, here); /* asks once */
}

void swz_hooks_go_quiet(void)
{
	struct slow_call call = {.thread = this_thread(NULL, NULL)};

	if (call.thread)
		slowly(stock_up, &call);
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
	thread->table_mask = 0;
	thread->table = NULL;
	thread->top = &swz_bottom;
}

/* The edge's node; with a body and a slot given, and if the node is new, *thunk
 * is one of its thunks too. */
static struct swz_node *edge(struct swz_thread *thread, uint64_t key,
			     uint32_t function, uint64_t call_site,
			     const uint8_t *body, const uint64_t *slot,
			     struct swz_thunk **thunk)
{
	struct swz_node *node = swz_edge_find(thread, key, function, call_site);
	struct slow_call call;

	if (node)
		return node;
	if (swz_file->flags & SWZ_FILE_FOLDED) {
		node = swz_context_find_folded(thread, key, function,
					       call_site);
		if (node)
			return node;
	}
	if (thread->cold->no_room)
		return NULL;
	note_name(thread);
	node = swz_context_make_at_once(thread, key, function, call_site);
	if (node)
		return node;
	call = (struct slow_call){.thread = thread,
				  .key = key,
				  .call_site = call_site,
				  .function = function,
				  .body = body,
				  .slot = slot};
	slowly(make_node, &call);
	if (body)
		*thunk = call.thunk;
	return call.node;
}

/* --------------------------------------------------------------- leaving */

/* Whether the thunk, which is not live, is free for the edge that it names: in
 * a forked child that may have been an edge of the parent's. */
static bool is_free(const struct swz_thread *thread,
		    const struct swz_thunk *thunk)
{
	const struct swz_thunk *t = *swz_free_thunks(thread,
						     swz_unit_at(thunk->node));

	for (unsigned i = 0; t && t != thunk && i < SWZ_ARENA_BLOCKS; i++)
		t = t->next_free;
	return t == thunk;
}

static void leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
			uint64_t *slot, enum swz_event_kind how)
{
	uint64_t now;

	/* one that is not live returns a second time: its stack was copied */
	bool live = thunk->slot != NULL;

	if (!swz_thread_owns(thread, thunk) || !thunk->node ||
	    (!live && !is_free(thread, thunk))) {
		/* its stack was resumed on this thread, or in a forked child:
		 * the accounts are those of another one */
		if (thread->top == thunk) {
			thread->top = thunk->link;
			swz_set_key(thread, thread->top);
		}
		if (live)
			swz_thread_give_up_thunk(thunk, slot);
		return;
	}
	if (live && thread->top != thunk)
		swz_make_latest(thread, thunk);
	now = swz_now(thread);
	thread->record->last_ticks = swz_ticks_of(thread, now);
	thread->key = (uint64_t)thunk->parent << 32;
	thread->expected = &thread->links[thunk->node].next;
	if (!live)
		return;
	swz_leave(thread, thunk, now, how);
	thread->top = thunk->link ? thunk->link : &swz_bottom;
	swz_thread_free_thunk(thread, thunk);
}

void swz_exit(struct swz_thunk *thunk, uint64_t *slot)
{
	struct swz_thread *thread = this_thread(thunk, thunk->slot);

	if (thread)
		leave_frame(thread, thunk, slot, SWZ_EVENT_RETURN);
}

static void note_unwound(void *argument)
{
	const struct slow_call *call = argument;

	swz_unwound_note(call->thread, call->thunk);
}

void *swz_unwound(struct swz_thunk *thunk)
{
	struct slow_call call = {.thread = this_thread(thunk, thunk->slot),
				 .thunk = thunk};

	if (call.thread) {
		if (swz_thread_owns(call.thread, thunk) && thunk->slot)
			slowly(note_unwound, &call);
		leave_frame(call.thread, thunk, thunk->slot, SWZ_EVENT_UNWIND);
	}
	return landing_unwinder->resume;
}

void swz_unwind_begin(const struct swz_unwinder *unwinder)
{
	landing_unwinder = unwinder;
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
		struct swz_thunk *thunk = swz_arena_thunk_at(*slot);

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

static void lose_call(void)
{
	__atomic_fetch_add(&swz_file->lost_calls, 1, __ATOMIC_RELAXED);
}

static struct swz_thunk *take_thunk(struct swz_thread *thread,
				    struct swz_node *node, const uint8_t *body,
				    const uint64_t *slot)
{
	struct swz_thunk **free, *thunk;
	struct slow_call call;

	if (node->calls % SWZ_HOT_CALLS == 0 && node->calls)
		swz_own_thunks(thread, node);
	free = swz_free_thunks(thread, node);
	thunk = *free;
	if (thunk) {
		*free = thunk->next_free;
		return thunk;
	}
	thunk = swz_thread_fresh_thunk(thread, node, body, slot);
	if (thunk || swz_ticks() < thread->cold->retry_at)
		return thunk;
	call = (struct slow_call){
		.thread = thread, .node = node, .body = body, .slot = slot};
	slowly(make_thunk, &call);
	return call.thunk;
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

static struct swz_thunk *enter_call(struct swz_thread *thread,
				    const uint8_t *body, uint64_t *slot,
				    uint32_t function)
{
	struct swz_thunk *thunk = NULL;
	struct swz_node *node;
	uint64_t key, start, bits = 0;

	if (thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	else if (swz_is_far_above(thread, slot) &&
		 !swz_edge_find(thread, thread->key, function, *slot))
		swz_close_above(thread, slot);
	key = thread->key;
	node = edge(thread, key, function, *slot, body, slot, &thunk);
	if (node && !thunk)
		thunk = take_thunk(thread, node, body, slot);
	if (!node || !thunk) {
		lose_call();
		return NULL;
	}
	*thread->expected = swz_unit_of(node);
	thread->expected = &thread->links[node->context].first;
	if (swz_sampling)
		bits = swz_sampling_decide(thread, node);
	thunk->start_ticks = 0;
	thunk->slot = slot;
	thunk->node = swz_unit_of(node);
	thunk->parent = (uint32_t)(key >> 32); /* folded: not the node's */
	thunk->link = thread->top;
	/* in the order of asm/x86_64/enter.S, against signals */
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

static struct swz_thunk *take_record(struct swz_thread *thread)
{
	struct swz_thunk *record = swz_thread_pop_record(thread);
	struct slow_call call;

	if (record)
		return record;
	call = (struct slow_call){.thread = thread};
	slowly(make_record, &call);
	return call.thunk;
}

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

/* A hooked function has ended in a jump to another: the return slot holds its
 * thunk, which from now on stands for the new function too, so that a chain of
 * tail calls takes no more of the return stack than the program's own does, and
 * one that goes in circles no more memory than its functions. */
static void enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
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
		node = edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL,
			    NULL, NULL, NULL);
		if (node)
			swz_activation_count(thread, node);
		else
			lose_call();
		return;
	}
	latest = thread->top->slot;
	if (thread->top != thunk)
		swz_make_latest(thread, thunk);
	thread->top = thunk;
	if (swz_jumps_lead_to(thunk, function))
		swz_jumps_spell_out(thread, thunk, take_record);
	again = stands_for(thunk, function, &after, &length);
	if (again && !after) {
		/* otherwise a loop to the function's first instruction */
		if (was_elsewhere(thread, latest, thunk))
			swz_activation_count(thread, swz_frame_node(thunk));
		return;
	}
	node = edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL, NULL,
		    NULL, NULL);
	if (!node) {
		lose_call();
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
		node = edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL,
			    NULL, NULL, NULL);
	}
	record = take_record(thread);
	if (!node || !record) {
		lose_call();
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

struct swz_thunk *swz_enter(const uint8_t *body, uint64_t *slot)
{
	uint32_t function = ((const uint32_t *)(const void *)body)[-1];
	struct swz_thread *thread;

	if (!swz_recording) {
		if (swz_system_calls_end)
			lose_call();
		return NULL;
	}
	thread = this_thread(NULL, slot);
	if (!thread) {
		if (swz_recording)
			lose_call();
		return NULL;
	}
	swz_context_mend_key(thread);
	if (swz_ids_filtered && !is_wanted(thread, slot, function))
		return NULL;
	if (swz_arena_contains(*slot)) {
		struct swz_thunk *thunk = swz_arena_thunk_at(*slot);

		if (thunk->slot == slot)
			enter_by_jump(thread, thunk, function);
		else
			lose_call(); /* a copy of a frame that we know */
		return NULL;
	}
	if (swz_foreign_callers_pass(function, *slot) ||
	    swz_known_code_pass(function, *slot))
		return NULL;
	return enter_call(thread, body, slot, function);
}
