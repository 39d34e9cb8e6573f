#include "runtime/hooks/slow_calls.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/syscall.h"
#include "runtime/hooks/fork.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/nodes.h"
#include "runtime/record/processor_time.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/slow_stack.h"
#include "runtime/record/title.h"
#include "thunks/leaders.h"

/* Of a thread for whose state there was no memory: when to try again. */
static __thread uint64_t begin_again_at
	__attribute__((tls_model("initial-exec")));

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

static void note_title(void *argument)
{
	(void)argument;
	swz_title_note();
}

/* A thread may get its name any time, mostly early: it is looked at again with
 * each of the first new edges, and then less and less often. So is what the
 * process calls itself. */
#define NAME_EACH 64u
#define NAME_OFTEN 1024u

static void note_name(struct swz_thread *thread)
{
	uint32_t made = thread->cold->nodes_made++;
	struct slow_call call = {.thread = thread};

	if (made >= NAME_EACH &&
	    made % (made < NAME_OFTEN ? NAME_EACH : NAME_OFTEN) != 0)
		return;
	swz_thread_note_name(thread);
	if (swz_title_is_new())
		slowly(note_title, &call);
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

struct swz_thread *swz_this_thread(struct swz_thunk *exiting,
				   const uint64_t *here)
{
	struct swz_thread *thread = swz_thread_here();

	if (!swz_recording)
		return NULL;
	if (thread && thread->cold)
		return thread;
	return begun_thread(thread, exiting, here);
}

struct swz_node *swz_make_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk)
{
	struct swz_node *node;
	struct slow_call call;

	if (swz_file->flags & SWZ_FILE_FOLDED) {
		node = swz_context_find_folded(thread, key, function,
					       call_site);
		if (node)
			return node;
	}
	if (thread->cold->no_room)
		return NULL;
	note_name(thread);
	swz_processor_time_note_sometimes(thread->record, swz_ticks());
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

struct swz_node *swz_take_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk)
{
	struct swz_node *node = swz_edge_find(thread, key, function, call_site);

	return node ? node
		    : swz_make_edge(thread, key, function, call_site, body,
				    slot, thunk);
}

struct swz_thunk *swz_take_thunk(struct swz_thread *thread,
				 struct swz_node *node, const uint8_t *body,
				 const uint64_t *slot)
{
	struct swz_thunk *thunk;
	struct slow_call call;

	if (node->calls % SWZ_HOT_CALLS == 0 && node->calls)
		swz_own_thunks(thread, node);
	thunk = swz_thread_free_thunk_for(thread, node, slot);
	if (thunk)
		return thunk;
	thunk = swz_thread_fresh_thunk(thread, node, body, slot);
	if (thunk || swz_ticks() < thread->cold->retry_at)
		return thunk;
	call = (struct slow_call){
		.thread = thread, .node = node, .body = body, .slot = slot};
	slowly(make_thunk, &call);
	return call.thunk;
}

struct swz_thunk *swz_take_record(struct swz_thread *thread)
{
	struct swz_thunk *record = swz_thread_pop_record(thread);
	struct slow_call call;

	if (record)
		return record;
	call = (struct slow_call){.thread = thread};
	slowly(make_record, &call);
	return call.thunk;
}

static void stock_up(void *argument)
{
	struct slow_call *call = argument;
	const uint64_t *here = __builtin_frame_address(0);

	swz_thread_stock_states();
	swz_thread_stock_up(call->thread);
	swz_nodes_stock_up(call->thread);
	swz_leaders_stock_up();
	swz_thread_same_stack(call->thread, here, here); /* asks once */
}

void swz_stock_up(struct swz_thread *thread)
{
	struct slow_call call = {.thread = thread};

	slowly(stock_up, &call);
}

void swz_lose_call(void)
{
	__atomic_fetch_add(&swz_file->lost_calls, 1, __ATOMIC_RELAXED);
}
