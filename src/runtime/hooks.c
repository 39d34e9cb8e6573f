/* Frames end in any order: by return, which names the thunk; by an exception,
 * which names it too (thunks/unwind.c); by longjmp, which says nothing and is
 * noticed when an older frame of the same stack ends; or they are suspended
 * with their stack and come back, perhaps on another thread. So nothing here
 * trusts `top` or `link` further than to account time, and a thunk is reused
 * only when it has returned or its slot has been overwritten (thread.c). */

#include "runtime/hooks.h"

#include <stddef.h>

#include "base/syscall.h"
#include "runtime/context.h"
#include "runtime/fork.h"
#include "runtime/plan.h"
#include "thunks/unwind.h"

/* Frames farther apart than this are taken to be on different stacks. */
#define STACK_SPAN_BYTES (64u << 20)

bool swz_recording;
struct swz_node swz_closed_node;

/* Of the landing to come, between the personality routine and the landing. */
static __thread const struct swz_unwinder *landing_unwinder
	__attribute__((tls_model("initial-exec")));

void swz_call_on_stack(void (*function)(void *), void *argument,
		       void *stack_top);

/* ----------------------------------------------------------- slow calls */

struct slow_call {
	struct swz_thread *thread;
	uint64_t *slot;
	struct swz_thunk *exiting;
	uint64_t key;
	uint64_t call_site;
	struct swz_node *node;
	uint32_t function;
	bool ok;
};

static void slowly(void (*function)(void *), struct slow_call *call)
{
	uint64_t all = ~(uint64_t)0, before;
	char *stack = call->thread
			      ? swz_thread_cold_of(call->thread)->slow_stack_top
			      : NULL;

	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, 8);
	if (stack)
		swz_call_on_stack(function, call, stack);
	else
		function(call);
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &before, NULL, 8);
}

static void begin_thread(void *argument)
{
	struct slow_call *call = argument;

	if (call->thread)
		call->thread = swz_fork_child(call->thread, call->slot,
					      call->exiting);
	else
		call->thread = swz_thread_begin();
}

static void refill(void *argument)
{
	struct slow_call *call = argument;

	call->ok = swz_thread_refill(call->thread, call->slot) == SWZ_OK;
}

static void make_node(void *argument)
{
	struct slow_call *call = argument;

	/* again: a signal may have come between */
	call->node = swz_context_find(call->thread, call->key, call->function,
				      call->call_site);
	if (!call->node)
		call->node = swz_context_make(call->thread, call->key,
					      call->function, call->call_site);
	swz_thread_note_name(call->thread);
}

/* The calling thread's state, made if need be; NULL: it runs unrecorded. */
static struct swz_thread *this_thread(uint64_t *slot, struct swz_thunk *exiting)
{
	struct slow_call call = { .thread = swz_thread_self,
				  .slot = slot,
				  .exiting = exiting };

	if (!swz_recording)
		return NULL;
	if (call.thread && call.thread->cold)
		return call.thread;
	slowly(begin_thread, &call);
	return swz_recording ? call.thread : NULL;
}

static struct swz_node *edge(struct swz_thread *thread, uint64_t key,
			     uint32_t function, uint64_t call_site)
{
	struct slow_call call = { .thread = thread,
				  .key = key,
				  .call_site = call_site,
				  .function = function };

	call.node = swz_context_find(thread, key, function, call_site);
	if (call.node)
		return call.node;
	if (swz_file->flags & SWZ_FILE_FOLDED) {
		uint64_t fold = swz_context_fold_key(thread);

		call.node = swz_context_find(thread, fold, function, call_site);
		if (call.node)
			return call.node;
	}
	slowly(make_node, &call);
	if (!call.node && swz_file->flags & SWZ_FILE_FOLDED) {
		call.key = swz_context_fold_key(thread);
		slowly(make_node, &call);
	}
	return call.node;
}

/* --------------------------------------------------------------- leaving */

/* Ends what a thunk stands for: its activation and those pending on it, which
 * ended in tail calls. Returns the context before the first of them. */
static uint64_t leave(struct swz_thread *thread, struct swz_thunk *thunk,
		      uint64_t now)
{
	uint64_t key = thunk->parent_key;

	swz_context_leave(thread, thunk->node, thunk->start_ticks, now);
	for (struct swz_thunk *p = thunk->pending; p; p = p->pending) {
		swz_context_leave(thread, p->node, p->start_ticks, now);
		key = p->parent_key;
	}
	return key;
}

static void close_early(struct swz_thread *thread, struct swz_thunk *thunk,
			uint64_t now)
{
	if (thunk->node == &swz_closed_node)
		return;
	leave(thread, thunk, now);
	thunk->node = &swz_closed_node;
	for (struct swz_thunk *p = thunk->pending; p; p = p->pending)
		p->node = &swz_closed_node;
}

/* Closes the frames that were entered after the thunk's, lie beneath it on the
 * same stack and have not ended: a longjmp has cut them off. */
static void close_skipped(struct swz_thread *thread, struct swz_thunk *thunk,
			  uint64_t now)
{
	struct swz_thunk *y = thread->top;

	while (y && y != thunk) {
		struct swz_thunk *next = y->link;

		if (!swz_thread_owns(thread, y) ||
		    y->start_ticks < thunk->start_ticks ||
		    (next && next->start_ticks >= y->start_ticks &&
		     next != thunk))
			return;
		y = next;
	}
	if (!y)
		return;
	for (y = thread->top; y != thunk; y = y->link)
		if (y->slot < thunk->slot &&
		    (uint64_t)((char *)thunk->slot - (char *)y->slot) <
			    STACK_SPAN_BYTES)
			close_early(thread, y, now);
}

static void leave_frame(struct swz_thread *thread, struct swz_thunk *thunk)
{
	uint64_t now = swz_ticks();

	if (thread->top != thunk)
		close_skipped(thread, thunk, now);
	thread->record->last_ticks = now;
	thread->key = leave(thread, thunk, now);
	thread->top = thunk->link;
	if (swz_thread_owns(thread, thunk))
		swz_thread_put_free(thread, thunk);
	/* else its owner finds it when it sweeps */
}

void swz_exit(struct swz_thunk *thunk)
{
	struct swz_thread *thread = this_thread(thunk->slot, thunk);

	if (thread)
		leave_frame(thread, thunk);
}

void *swz_unwound(struct swz_thunk *thunk)
{
	struct swz_thread *thread = this_thread(NULL, NULL);

	if (thread)
		leave_frame(thread, thunk);
	return landing_unwinder->resume;
}

void swz_unwind_begin(const struct swz_unwinder *unwinder)
{
	landing_unwinder = unwinder;
}

/* -------------------------------------------------------------- entering */

static bool is_wanted(const struct swz_thread *thread, uint32_t function)
{
	const struct swz_node *context = swz_context_node(thread->key);

	if (!(context->open & SWZ_NODE_PASS))
		return true;
	return context->function == SWZ_FUNCTION_ROOT &&
	       swz_plan_filter(function) & SWZ_FILTER_ONLY;
}

static void lose_call(void)
{
	__atomic_fetch_add(&swz_file->lost_calls, 1, __ATOMIC_RELAXED);
}

static struct swz_thunk *take_thunk(struct swz_thread *thread, uint64_t *slot)
{
	struct swz_thunk *thunk;

	if (!thread->free) {
		struct slow_call call = { .thread = thread, .slot = slot };

		slowly(refill, &call);
		if (!call.ok)
			return NULL;
	}
	thunk = thread->free;
	thread->free = thunk->link;
	return thunk;
}

/* An ordinary call, or a jump with another frame's thunk as return address. */
static struct swz_thunk *enter_call(struct swz_thread *thread,
				    const uint8_t *body, uint64_t *slot,
				    uint32_t function, uint64_t call_site)
{
	uint64_t key = thread->key, now;
	struct swz_node *node = edge(thread, key, function, call_site);
	struct swz_thunk *thunk = node ? take_thunk(thread, slot) : NULL;

	if (!thunk) {
		lose_call();
		return NULL;
	}
	thunk->slot = slot;
	thunk->return_address = *slot;
	thunk->body = body;
	thunk->node = node;
	thunk->parent_key = key;
	thunk->pending = NULL;
	thunk->link = thread->top;
	thread->top = thunk;
	now = swz_ticks();
	thunk->start_ticks = now;
	thread->record->last_ticks = now;
	thread->key = swz_context_enter(thread, node, now);
	return thunk;
}

/* The record pending on the thunk that stands for this function, or NULL. */
static struct swz_thunk *pending_on(struct swz_thunk *thunk, uint32_t function,
				    unsigned *length)
{
	*length = 0;
	for (struct swz_thunk *p = thunk->pending; p; p = p->pending) {
		if (p->node->function == function)
			return p;
		++*length;
	}
	return NULL;
}

/* The thunk goes back to what it stood for when `record` was put aside: what
 * came after it ends now. */
static void fall_back(struct swz_thread *thread, struct swz_thunk *thunk,
		      struct swz_thunk *record, uint64_t now)
{
	struct swz_thunk *p = thunk->pending;

	swz_context_leave(thread, thunk->node, thunk->start_ticks, now);
	while (p != record) {
		struct swz_thunk *next = p->pending;

		swz_context_leave(thread, p->node, p->start_ticks, now);
		p->pending = NULL;
		swz_thread_put_free(thread, p);
		p = next;
	}
	thunk->node = record->node;
	thunk->start_ticks = record->start_ticks;
	thunk->parent_key = record->parent_key;
	thunk->pending = record->pending;
	record->pending = NULL;
	swz_thread_put_free(thread, record);
}

/* How many functions may be pending on one frame; beyond, the latest ends when
 * it jumps, and its successor counts as called from the same place. */
#define MOST_PENDING 48u

/* A hooked function has ended in a jump to another: the return slot holds its
 * thunk, which from now on stands for the new function too, so that a chain of
 * tail calls takes no more of the return stack than the program's own does, and
 * one that goes in circles no more memory than its functions. */
static void enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
			  uint32_t function)
{
	uint64_t now = swz_ticks();
	struct swz_node *node;
	struct swz_thunk *record;
	unsigned length;

	if (thread->top != thunk)
		close_skipped(thread, thunk, now);
	thread->top = thunk;
	if (thunk->node->function == function)
		return; /* a loop to the function's first instruction */
	node = edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL);
	if (!node) {
		lose_call();
		return;
	}
	record = pending_on(thunk, function, &length);
	if (record) {
		fall_back(thread, thunk, record, now);
		node->calls++;
		thread->key = (uint64_t)thunk->node->context << 32;
		return;
	}
	if (length >= MOST_PENDING) {
		swz_context_leave(thread, thunk->node, thunk->start_ticks, now);
		thread->key = thunk->parent_key;
		node = edge(thread, thread->key, function, SWZ_CALL_SITE_TAIL);
	} else {
		record = take_thunk(thread, thunk->slot);
		if (record) {
			record->slot = SWZ_SLOT_OF_RECORD;
			record->node = thunk->node;
			record->start_ticks = thunk->start_ticks;
			record->parent_key = thunk->parent_key;
			record->pending = thunk->pending;
			thunk->pending = record;
			thunk->parent_key = thread->key;
		}
	}
	if (!node || (!record && length < MOST_PENDING)) {
		lose_call();
		return;
	}
	now = swz_ticks();
	thunk->node = node;
	thunk->start_ticks = now;
	thread->record->last_ticks = now;
	thread->key = swz_context_enter(thread, node, now);
}

struct swz_thunk *swz_enter(const uint8_t *body, uint64_t *slot)
{
	uint32_t function = ((const uint32_t *)(const void *)body)[-1];
	uint64_t call_site = *slot;
	struct swz_thread *thread;

	if (!swz_recording)
		return NULL;
	thread = this_thread(slot, NULL);
	if (!thread) {
		if (swz_recording)
			lose_call();
		return NULL;
	}
	if (swz_plan_filtered && !is_wanted(thread, function))
		return NULL;
	if (swz_arena_contains(call_site)) {
		struct swz_thunk *thunk = swz_arena_thunk_at(call_site);

		if (thunk->slot == slot && swz_thread_owns(thread, thunk)) {
			enter_by_jump(thread, thunk, function);
			return NULL;
		}
		call_site = SWZ_CALL_SITE_TAIL;
	}
	return enter_call(thread, body, slot, function, call_site);
}
