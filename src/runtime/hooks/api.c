/* The functions of swizzle.h, as the library exports them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/loaded.h"
#include "runtime/record/counts.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "thunks/arena.h"

/* --- spans --------------------------------------------------------------- */

static bool is_span(uint32_t unit)
{
	const struct swz_node *node = swz_unit_at(unit);

	return swz_is_span(node->function);
}

/* The frame that runs at this slot. */
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
	if (id ? node->function != id : !is_span(span.node))
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

	if (!can_hold(thread, frame) || !swz_is_record(record))
		return false;
	node = swz_unit_at(record->node);
	if (id ? node->function != id : !is_span(record->node))
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

/* --- pauses -------------------------------------------------------------- */

static void keep_state(struct swz_thread *thread,
		       const struct swz_thread *state)
{
	swz_paused_state = thread;
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
	keep_state(thread, state);
}

static void end(struct swz_thread *thread, const uint64_t *slot, uint64_t ticks)
{
	take_back(thread);
	swz_span_end(thread, slot, paused_id(thread), ticks);
}

/* Pauses, or resumes, the calling thread. SLOT: see span_begin. */
static void pause_thread(struct swz_thread *thread, const uint64_t *slot)
{
	uint64_t ticks = swz_ticks();

	if (thread->cold->pauses)
		return;
	thread->cold->pauses = true;
	swz_marks_add(thread, SWZ_MARK_PAUSED, "", 0, ticks);
	if (swz_config.count) {
		thread->cold->pauses = swz_counts_pause();
		return;
	}
	if (swz_thread_is_paused())
		keep_state(thread, &swz_paused_thread);
	else
		begin(thread, slot, &swz_paused_thread, ticks);
}

static void resume_thread(struct swz_thread *thread, const uint64_t *slot)
{
	uint64_t ticks = swz_ticks();

	if (!thread->cold->pauses)
		return;
	thread->cold->pauses = false;
	if (swz_config.count)
		swz_counts_resume(thread);
	else if (swz_request_is_paused())
		keep_state(thread, &swz_paused_process);
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

/* --- swizzle.h ----------------------------------------------------------- */

#define PUBLIC __attribute__((visibility("default")))

/* Without swizzle.h: in C and C++ that has inline functions of most of these
 * names, which look these up. */
PUBLIC uintptr_t swizzle_resolve_return_address(uintptr_t address);
PUBLIC uintptr_t swizzle_resolve_return_location(uintptr_t location);
PUBLIC void swizzle_mark(const char *text);
PUBLIC void swizzle_begin(const char *name);
PUBLIC void swizzle_end(void);
PUBLIC void swizzle_pause(void);
PUBLIC void swizzle_resume(void);
PUBLIC void swizzle_pause_process(void);
PUBLIC void swizzle_resume_process(void);

/* The return slot of the function that this stands in. */
#define OWN_SLOT \
	swz_slot_below((const uint64_t *)__builtin_frame_address(0) + 1)

PUBLIC uintptr_t swizzle_resolve_return_address(uintptr_t address)
{
	return swz_arena_contains(address)
		       ? swz_arena_thunk_at(address)->return_address
		       : address;
}

/* An address stored there is for this return alone: C puts back the earlier one
 * (thread_thunks.c), so the frame's end is to come to C. */
static void end_in_c(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *none = NULL, **last;

	if (thread && swz_thread_owns(thread, thunk))
		swz_jumps_spell_out(thread, thunk, swz_take_record);
	last = swz_frame_behind_records(&thunk->pending);
	__atomic_compare_exchange_n(last, &none, SWZ_FIRST_FRAME, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

PUBLIC uintptr_t swizzle_resolve_return_location(uintptr_t location)
{
	uintptr_t address = *(const uintptr_t *)location;
	struct swz_thread *thread = swz_thread_here();
	struct swz_thunk *thunk;

	if (!swz_arena_contains(address))
		return location;
	thunk = swz_arena_thunk_at(address);
	if (swz_thunk_leads(thunk) && thread)
		thunk = swz_frame_stop_following(thread, thunk,
						 (uint64_t *)location);
	if (swz_thunk_leads(thunk))
		return location;
	end_in_c(thread, thunk);
	return (uintptr_t)&thunk->return_address;
}

/* A pause is a span of its own kind, that goes on within others. */
static bool stop_pause(struct swz_thread *thread, const uint64_t *slot)
{
	return swz_thread_is_paused() &&
	       swz_span_end(thread, slot, swz_span_id(thread, SWZ_SPAN_PAUSED),
			    swz_ticks());
}

PUBLIC void swizzle_mark(const char *text)
{
	struct swz_thread *thread = swz_this_thread(NULL, OWN_SLOT);

	if (thread && text)
		swz_marks_add(thread, SWZ_MARK_TEXT, text, strlen(text),
			      swz_ticks());
}

PUBLIC void swizzle_begin(const char *name)
{
	const uint64_t *slot = OWN_SLOT;
	uint64_t site = (uintptr_t)__builtin_return_address(0);
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	/* spans have times */
	if (!thread || !name || swz_config.count)
		return;
	stop_pause(thread, slot);
	if (swz_arena_contains(site))
		site = SWZ_CALL_SITE_TAIL;
	swz_span_begin(thread, slot, swz_span_id(thread, name), site,
		       swz_ticks());
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
}

PUBLIC void swizzle_end(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (!thread || swz_config.count)
		return;
	stop_pause(thread, slot);
	swz_span_end(thread, slot, 0, swz_ticks());
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
}

PUBLIC void swizzle_pause(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (thread)
		pause_thread(thread, slot);
}

PUBLIC void swizzle_resume(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (thread)
		resume_thread(thread, slot);
}

/* The other threads learn it at their next call. */
static void change_process(enum swz_request_state state, const uint64_t *slot)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t ticks = swz_ticks();

	if (!thread || !swz_request_set(state, ticks))
		return;
	swz_marks_add(thread,
		      state == SWZ_REQUEST_PAUSE ? SWZ_MARK_PROCESS_PAUSED
						 : SWZ_MARK_PROCESS_RESUMED,
		      "", 0, ticks);
	if (swz_config.count)
		swz_counts_ask();
	else
		(void)swz_pause_passes(slot);
	if (state == SWZ_REQUEST_RECORD && swz_live_sites_are_native() &&
	    !atomic_flag_test_and_set_explicit(&said, memory_order_relaxed))
		swz_say("the program resumes recording, but none of its "
			"functions is hooked. Use swizzle-ctl start, or begin "
			"with SWIZZLE_OFF=hooked",
			NULL, NULL);
}

PUBLIC void swizzle_pause_process(void)
{
	change_process(SWZ_REQUEST_PAUSE, OWN_SLOT);
}

PUBLIC void swizzle_resume_process(void)
{
	change_process(SWZ_REQUEST_RECORD, OWN_SLOT);
}
