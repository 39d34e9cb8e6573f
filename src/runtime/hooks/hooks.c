/* Frames end in any order: by return, which names the thunk; by an exception,
 * which names it too (src/runtime/hooks/unwind.c); by longjmp, which says
 * nothing and is noticed when an older frame of the same stack ends; or they
 * are suspended with their stack and come back, perhaps on another thread,
 * perhaps twice. So nothing here trusts `top` or `link` further than to account
 * time. Where the program goes on rests on what never changes in a thunk
 * (thunks/arena.h). */

#include "runtime/hooks/hooks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/hooks/unwind.h"
#include "runtime/module/code_owners.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"

/* --- choice of a hook ---------------------------------------------------- */

void swz_hook_enter(void);
void swz_hook_enter_filtered(void);
void swz_hook_enter_sampled(void);
void swz_hook_enter_sampled_filtered(void);
void swz_hook_enter_leaf(void);
void swz_hook_enter_leaf_filtered(void);
void swz_hook_enter_traced(void);
void swz_hook_enter_traced_filtered(void);
void swz_hook_enter_captured(void);
void swz_hook_enter_counted(void);
void swz_past_hook(void);

void swz_hook_exit(void);
void swz_hook_exit_following(void);

void swz_hooks_begin(void)
{
	/* the others have been set where that was decided */
	if (swz_config.count)
		return;
	if (!swz_sampling && !swz_tracing)
		swz_arena_set_exit(swz_hook_exit, swz_hook_exit_following);
	swz_leaders_begin();
}

const struct swz_hooks *swz_hooks_choose(void)
{
#define ARENA \
	{swz_arena_start, swz_arena_end}, swz_hook_enter_captured, \
		swz_past_hook, {0, 0}, false, false, 0
	static struct swz_hooks counted = {swz_hook_enter_counted,
					   swz_hook_enter_counted, ARENA};
	static const struct swz_hooks exact[] = {
		{swz_hook_enter, swz_hook_enter, ARENA},
		{swz_hook_enter_filtered, swz_hook_enter_filtered, ARENA},
	};
	static const struct swz_hooks traced[] = {
		{swz_hook_enter_traced, swz_hook_enter_traced, ARENA},
		{swz_hook_enter_traced_filtered, swz_hook_enter_traced_filtered,
		 ARENA},
	};
	static const struct swz_hooks sampled[] = {
		{swz_hook_enter_sampled, swz_hook_enter_leaf, ARENA},
		{swz_hook_enter_sampled_filtered, swz_hook_enter_leaf_filtered,
		 ARENA},
	};

#undef ARENA
	if (swz_config.count) {
		counted.counts = true;
		counted.first_only = swz_config.first_calls;
		counted.access = (struct swz_count_access){
			(int32_t)swz_thread_offset_of(&swz_count_place.base),
			(int32_t)swz_thread_offset_of(&swz_count_place.mask)};
		return &counted;
	}
	if (swz_tracing)
		return &traced[swz_ids_filtered];
	return swz_sampling ? &sampled[swz_ids_filtered]
			    : &exact[swz_ids_filtered];
}

/* --- callers in unhooked code -------------------------------------------- */

/* Callers that are code made at run time. Its functions are not hooked, but
 * they are contexts: nodes of the function SWZ_FUNCTION_CODE, without calls. */

/* Calls out of such code come here each time, since no edge is made that the
 * hook would find by the context and the return address alone: V8 calls all C++
 * functions from a few places of its built-in code. Who has called is then only
 * told by the frames above.
 *
 * These are followed by %rbp, up to the first return address that is a file's,
 * and only where the caller's frame and the latest of ours are on the stack
 * that the thread began on: what lies between is memory. One path has an
 * address once: what recursion has put between two of them is left out. */

#define MOST_FRAMES 1024u
#define MOST_ADDRESSES 64u

struct path {
	uint64_t addresses[MOST_ADDRESSES]; /* the latest first */
	unsigned count;
};

static void add(struct path *path, uint64_t address)
{
	for (unsigned i = 0; i < path->count; i++)
		if (path->addresses[i] == address) {
			path->count = i + 1;
			return;
		}
	if (path->count < MOST_ADDRESSES)
		path->addresses[path->count++] = address;
}

struct asking {
	struct swz_thread *thread;
	const uint64_t *slot;
};

static void ask(void *argument)
{
	struct asking *asking = argument;

	swz_thread_same_stack(asking->thread, asking->slot, asking->slot);
}

/* Up to where frames may be looked at. */
static const uint64_t *bound_of(struct swz_thread *thread, const uint64_t *slot)
{
	struct asking asking = {thread, slot};
	const struct swz_thread_cold *cold = thread->cold;

	if (!cold->home_high)
		swz_slowly(thread, ask, &asking);
	if (!swz_thread_at_home(thread, slot))
		return slot;
	if (thread->top == &swz_bottom)
		return (const uint64_t *)(uintptr_t)cold->home_high;
	return swz_thread_at_home(thread, thread->top->slot) ? thread->top->slot
							     : slot;
}

static void walk(struct path *path, const uint64_t *slot, const uint64_t *frame,
		 const uint64_t *bound)
{
	for (unsigned i = 0; i < MOST_FRAMES; i++) {
		enum swz_code_kind kind;
		const uint64_t *next;

		if (frame <= slot || frame + 1 >= bound || (uintptr_t)frame % 8)
			return;
		kind = swz_code_kind_of(frame[1]);
		if (kind == SWZ_CODE_OF_FILE)
			return;
		if (kind == SWZ_CODE_OF_RUN_TIME)
			add(path, frame[1]);
		next = (const uint64_t *)(uintptr_t)frame[0];
		if (next <= frame)
			return;
		frame = next;
	}
}

/* NULL: there is no room; once contexts are folded, all new ones are. */
static struct swz_node *code_edge_of(struct swz_thread *thread, uint64_t key,
				     uint64_t address)
{
	struct swz_node *node = swz_edge_find(thread, key, SWZ_FUNCTION_CODE,
					      address);

	if (node || swz_file->flags & SWZ_FILE_FOLDED)
		return node;
	return swz_make_edge(thread, key, SWZ_FUNCTION_CODE, address, NULL,
			     NULL, NULL);
}

/* False: the call comes from a file. */
static bool find_path(struct path *path, struct swz_thread *thread,
		      const uint64_t *slot, const uint64_t *frame)
{
	enum swz_code_kind kind = swz_code_kind_of(*slot);

	if (kind == SWZ_CODE_OF_FILE)
		return false;
	path->count = 0;
	if (kind == SWZ_CODE_OF_RUN_TIME)
		add(path, *slot);
	walk(path, slot, frame, bound_of(thread, slot));
	if (!path->count) /* built-in code by itself */
		add(path, SWZ_CALL_SITE_TAIL);
	return true;
}

static uint64_t key_of(const struct swz_node *node)
{
	return (uint64_t)node->context << 32;
}

/* The same, made if need be and if there is room; else what is nearest above.
 */
static uint64_t code_caller(struct swz_thread *thread, uint64_t key,
			    const uint64_t *slot, const uint64_t *frame)
{
	struct path path;

	if (!find_path(&path, thread, slot, frame))
		return key;
	while (path.count--) {
		const struct swz_node *node = code_edge_of(
			thread, key, path.addresses[path.count]);

		if (!node)
			break;
		key = key_of(node);
	}
	return key;
}

/* The key of the context that a call comes from which is made while that of KEY
 * is current and for which KEY has no edge: KEY itself, or beneath it that of
 * the code made at run time from which *slot and the frames above it say that
 * it comes. 0: there is no such context yet. FRAME is the caller's %rbp.
 * Async-signal-safe, as is what follows. */
static uint64_t known_code_caller(struct swz_thread *thread, uint64_t key,
				  const uint64_t *slot, const uint64_t *frame)
{
	struct path path;

	if (!find_path(&path, thread, slot, frame))
		return key;
	while (path.count--) {
		const struct swz_node *node = swz_edge_find(
			thread, key, SWZ_FUNCTION_CODE,
			path.addresses[path.count]);

		if (!node)
			return 0;
		key = key_of(node);
	}
	return key;
}

/* --- tail calls ---------------------------------------------------------- */

static uint32_t function_of(const struct swz_thunk *thunk)
{
	const struct swz_node *node = swz_unit_at(thunk->node);

	return node->function;
}

/* True if the frame stands for the function already; *after is then the last
 * record that came after it, NULL if it is the latest itself. */
static bool stands_for(struct swz_thunk *thunk, uint32_t function,
		       struct swz_thunk **after, unsigned *length)
{
	*after = NULL;
	*length = 0;
	unsigned passed = 0;

	for (struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = swz_record_next(p, &passed)) {
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
		swz_watched_calls_ended(thread, p, now, SWZ_EVENT_RETURN);
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

/* --- the hooks ----------------------------------------------------------- */

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

static void leave(struct swz_thunk *thunk, uint64_t *slot, bool has_value)
{
	struct swz_thread *thread = swz_thread_here();

	if (thread)
		thunk = swz_frame_at(thread, thunk, slot);
	thread = swz_this_thread(thunk, thunk->slot);
	if (!thread)
		return;
	if (swz_thread_is_paused())
		swz_pause_catch_up(thread, thread->top->slot - 1);
	swz_leave_frame(thread, thunk, slot, SWZ_EVENT_RETURN, has_value);
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
}

uint64_t swz_exit(struct swz_thunk *thunk, uint64_t *slot)
{
	if (swz_is_landing(thunk))
		return swz_landing_arrive(thunk, slot);
	leave(thunk, slot, true);
	return 0;
}

void swz_enter_reader(uint64_t *slot)
{
	struct swz_thunk *thunk = swz_arena_thunk_at(*slot);
	volatile uint64_t *word = slot;
	uint64_t real = thunk->return_address;

	/* a signal handler finds the frame as at its exit, and may throw: then
	 * it covers the frame, as long as that is open */
	*word = real;
	leave(thunk, slot, false);
	*word = real;
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

/* Stands for the start of a call that is not timed: no time, but later than the
 * caller's. */
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
	key = known_code_caller(thread, key, slot, frame);
	is_of_file = key == thread->key;
	if (key && !is_of_file)
		node = swz_edge_find(thread, key, function, site);
	if (node)
		return node;
	if (swz_is_far_above(thread, slot))
		swz_close_above(thread, slot);
	key = is_of_file ? thread->key
			 : code_caller(thread, thread->key, slot, frame);
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

/* The same, with the thunk itself. */
static struct swz_thunk *enter_frame(const uint8_t *body, uint64_t *slot)
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
	const struct swz_thunk *thunk = enter_frame(body, slot);

	return thunk ? swz_thunk_code(thunk) : NULL;
}

/* --- triggers ------------------------------------------------------------ */

/* --start-at and --stop-at: recording starts or stops when a function is called
 * for the Nth time, in whichever thread. Both count from the program's start,
 * whether recording is on or not. The profile has the counts, so that the line
 * that ends the run can say which call never came. */

/* True if this is the call that is meant. (After so many it is never again.) */
static bool is_time(uint64_t *calls, uint64_t *shown,
		    const struct swz_trigger *trigger)
{
	uint64_t n = __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);

	if (n <= trigger->number)
		__atomic_store_n(shown, n, __ATOMIC_RELAXED);
	return n == trigger->number;
}

static void note(uint32_t flags)
{
	__atomic_fetch_or(&swz_trigger_state.flags, flags, __ATOMIC_RELAXED);
	__atomic_fetch_or(&swz_file->trigger_flags, flags, __ATOMIC_RELAXED);
}

/* False: that is its state already. */
static bool change(enum swz_request_state state, enum swz_mark_kind kind,
		   const uint64_t *slot)
{
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t ticks = swz_ticks();

	if (!thread || !swz_request_set(state, ticks))
		return false;
	swz_marks_add(thread, kind, "", 0, ticks);
	return true;
}

/* The function is entered with this return slot: before it is recorded.
 * Async-signal-safe. */
static SWZ_NO_IPA void triggers_pull(uint32_t function, const uint64_t *slot)
{
	struct swz_trigger_state *t = &swz_trigger_state;
	uint8_t flags = swz_ids_filter(function);

	if (!swz_recording)
		return;
	if (flags & SWZ_FILTER_STOP &&
	    is_time(&t->stops, &swz_file->stop_at_calls, &swz_config.stop_at))
		note(change(SWZ_REQUEST_PAUSE, SWZ_MARK_PROCESS_PAUSED, slot)
			     ? SWZ_TRIGGER_STOPPED
			     : SWZ_TRIGGER_STOPPED | SWZ_TRIGGER_EARLY);
	if (flags & SWZ_FILTER_START &&
	    is_time(&t->starts, &swz_file->start_at_calls,
		    &swz_config.start_at)) {
		(void)change(SWZ_REQUEST_RECORD, SWZ_MARK_PROCESS_RESUMED,
			     slot);
		note(SWZ_TRIGGER_STARTED);
	}
}

/* --- entries with values ------------------------------------------------- */

/* The entry of a call whose arguments are recorded: as any other, and its
 * arguments behind it, before the function has done anything. Functions at
 * which recording starts or stops come here, too. */

static void enter(struct swz_thread *thread, const struct swz_captured *c,
		  const struct swz_thunk *thunk, const uint64_t *slot)
{
	swz_values_enter(thread, c, thunk->node,
			 swz_ticks_of(thread, thunk->start_ticks), thunk, slot);
}

/* The state of the thread, to which a call is about to be entered; NULL: it is
 * not recorded. */
static struct swz_thread *before_entry(uint64_t *slot)
{
	struct swz_thread *thread;

	if (!swz_recording || swz_thread_is_paused())
		return NULL;
	thread = swz_this_thread(NULL, slot);
	if (!thread || !thread->cold)
		return NULL;
	/* what a longjmp has cut off is no caller */
	if (!swz_arena_contains(*slot) && thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	return thread;
}

/* True if the call, which is about to be entered, is none of those that are to
 * be recorded. */
static bool is_left_out(const struct swz_captured *c, uint64_t *slot)
{
	struct swz_thread *thread = before_entry(slot);

	if (!thread || thread->cold->muted_slot ||
	    swz_values_hold(thread, c, slot))
		return false;
	return swz_events_mute(thread, slot);
}

/* True if the call, which is about to be entered, is watched (--slow). */
static bool is_watched(uint32_t function, const struct swz_captured *c,
		       uint64_t *slot)
{
	uint8_t flags = swz_config.slow ? swz_ids_filter(function) : 0;
	struct swz_thread *thread;

	if (!(flags & SWZ_FILTER_SLOW) || swz_pause_concerns())
		return false;
	thread = before_entry(slot);
	if (!thread || thread->cold->muted_slot ||
	    (c && c->check_count && !swz_values_hold(thread, c, slot)))
		return false;
	return swz_watched_calls_enter(thread, flags, slot);
}

/* The call is entered; JUMPED: by a jump, on that frame. Its end is to come to
 * C. */
static void watch(struct swz_thread *thread, struct swz_thunk *thunk,
		  struct swz_thunk *jumped)
{
	if (thunk && !thunk->pending)
		thunk->pending = SWZ_FIRST_FRAME;
	if (jumped)
		jumped->pending->return_address = SWZ_RECORD_CAPTURED;
	swz_watched_calls_entered(thread, jumped ? jumped->pending : thunk,
				  jumped ? jumped : thunk);
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
	bool watches = is_watched(function, c, slot), jumped;
	bool mutes = c && c->check_count && is_left_out(c, slot);

	if ((c || watches) && swz_thread_here() && swz_arena_contains(*slot)) {
		frame = swz_frame_at(swz_thread_here(),
				     swz_arena_thunk_at(*slot), slot);
		before = frame->pending;
	}
	if (swz_config_has_triggers())
		triggers_pull(function, slot);
	thunk = enter_frame(body, slot);
	thread = c || watches ? swz_thread_here() : NULL;
	if (!thread || !thread->cold)
		return thunk;
	jumped = !thunk && frame && frame->slot == slot &&
		 frame->pending != before && swz_is_record(frame->pending);
	if (watches)
		watch(thread, thunk, jumped ? frame : NULL);
	if (mutes) {
		mute(thread, thunk, jumped ? frame : NULL);
		return thunk;
	}
	if (!c || thread->cold->muted_slot || swz_kept_calls_pass(thread->cold))
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
