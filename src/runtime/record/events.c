/* A thread fills one chunk, and when that is full another one; then the first
 * is packed (runtime/record/events.h) and filled again. So what it writes
 * stays in the cache, and the entry of a call that turns out to be too short is
 * mostly still there to be taken back. The first chunks are small, since there
 * may be ten thousand threads.
 *
 * What an interrupted hook has yet to write keeps its chunk from being packed,
 * but for --ring: there it may come to the place of another event, and the
 * reader has to do without both. */

#include "runtime/record/events.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"

#define FIRST_PAGES 1u
#define PAGES 16u

static uint64_t min_ticks;

void swz_hook_exit_traced(void);
void swz_hook_exit_following_traced(void);

/* ---------------------------------------------------------------- chunks */

static uint64_t end_of(const struct swz_chunk *chunk)
{
	return (uintptr_t)chunk + chunk->bytes;
}

/* The time of the page that an event lies in. */
static uint64_t *page_time(uint64_t event)
{
	return (uint64_t *)((event | SWZ_EVENT_PAGE_MASK) - 7);
}

static bool at_page_end(uint64_t event)
{
	return ((event + 8) & SWZ_EVENT_PAGE_MASK) == 0;
}

static void stop(struct swz_thread *thread)
{
	thread->record->untraced_from = swz_ticks();
	thread->event = SWZ_NO_EVENTS;
}

/* From now on events go to an empty chunk. */
static void fill_next(struct swz_thread *thread, struct swz_chunk *chunk)
{
	struct swz_thread_cold *cold = thread->cold;

	chunk->reserved[SWZ_EVENTS_FIRST] = cold->event_pages;
	cold->event_pages += chunk->bytes / SWZ_EVENT_PAGE;
	cold->earlier_events = cold->events;
	cold->events = chunk;
	*page_time((uintptr_t)chunk) = swz_ticks();
	swz_chunk_publish(chunk);
	thread->event = (uintptr_t)(chunk + 1);
}

static bool pack(struct swz_thread_cold *cold, struct swz_chunk *chunk,
		 struct swz_chunk **empty)
{
	if (!cold->packer)
		cold->packer = swz_packer_new();
	if (!cold->packer)
		return false;
	switch (swz_pack(cold->packer, chunk, cold->index)) {
	case SWZ_PACKING_HELD:
		return true;
	case SWZ_PACKING_FULL:
		return false;
	case SWZ_PACKING_DONE:
		break;
	}
	if (chunk->bytes == (uint64_t)PAGES * SWZ_EVENT_PAGE) {
		/* its number says that nothing in it is valid any more */
		memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
		*empty = chunk;
	} else {
		chunk->type = SWZ_CHUNK_PADDING;
		swz_event_chunk_leave(chunk);
	}
	return true;
}

static void next_chunk(void *argument)
{
	struct swz_thread *thread = argument;
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *behind = cold->earlier_events, *empty = NULL;
	uint64_t pages;

	/* a signal handler may have been here */
	if (!cold->events || thread->event + 8 != end_of(cold->events))
		return;
	if (swz_config.slow && swz_recording) {
		empty = swz_kept_calls_chunk(thread, SWZ_CHUNK_EVENTS);
		if (empty)
			fill_next(thread, empty);
		else
			thread->event = SWZ_NO_EVENTS;
		swz_switches_take(thread);
		return;
	}
	if (behind && !pack(cold, behind, &empty)) {
		stop(thread);
		return;
	}
	pages = 4 * cold->events->bytes / SWZ_EVENT_PAGE;
	if (!empty)
		empty = swz_event_chunk_take(SWZ_CHUNK_EVENTS,
					     pages < PAGES ? (uint32_t)pages
							   : PAGES,
					     FIRST_PAGES, cold->index);
	if (empty)
		fill_next(thread, empty);
	else
		stop(thread);
	swz_processor_time_note_sometimes(thread->record, swz_ticks());
	swz_switches_take(thread);
}

void swz_events_begin(void)
{
	swz_tracing = true;
	swz_arena_set_exit(swz_hook_exit_traced,
			   swz_hook_exit_following_traced);
	swz_event_chunks_begin();
}

void swz_events_forget(struct swz_thread_cold *cold)
{
	cold->events = cold->earlier_events = NULL;
	swz_packer_forget(cold->packer);
	swz_kept_calls_forget(cold);
	swz_switches_forget(cold);
	swz_values_forget(cold);
}

/* Releases the chunks of a thread that has ended. */
static void let_go(struct swz_chunk *chunk)
{
	swz_event_chunk_leave(chunk);
	if (chunk && !swz_config.ring)
		SWZ_SYSCALL(SYS_madvise, chunk, chunk->bytes, MADV_DONTNEED);
}

void swz_events_begin_thread(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *chunk;

	thread->min_ticks = min_ticks;
	cold->muted_by = NULL;
	cold->muted_slot = NULL;
	thread->event = SWZ_NO_EVENTS;
	if (!swz_tracing)
		return;
	/* also in a forked child, where the queue was wiped */
	if (cold->index == 0) {
		swz_event_chunks_forget();
		swz_kept_calls_fork();
	}
	let_go(cold->earlier_events);
	let_go(cold->events);
	swz_packer_restart(cold->packer);
	cold->events = cold->earlier_events = NULL;
	cold->event_pages = 0;
	swz_values_begin_thread(cold);
	if (swz_config.flows)
		swz_values_note_thread(thread);
	if (swz_config.slow && swz_recording) {
		swz_switches_begin_thread(thread);
		return;
	}
	/* the main thread's, before all: room for what the calibration does */
	chunk = swz_event_chunk_take(SWZ_CHUNK_EVENTS,
				     swz_recording ? FIRST_PAGES : PAGES,
				     FIRST_PAGES, cold->index);
	if (chunk)
		fill_next(thread, chunk);
	else
		stop(thread);
	swz_switches_begin_thread(thread);
}

void swz_events_restart(struct swz_thread *thread)
{
	struct swz_chunk *chunk = thread->cold->events;

	if (!chunk)
		return;
	memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
	*page_time((uintptr_t)chunk) = swz_ticks();
	thread->event = (uintptr_t)(chunk + 1);
	thread->record->short_calls = 0;
}

void swz_events_begin_call(struct swz_thread *thread, struct swz_chunk *chunk)
{
	struct swz_thread_cold *cold = thread->cold;

	cold->events = NULL;
	chunk->type = SWZ_CHUNK_EVENTS;
	fill_next(thread, chunk);
}

uint64_t swz_events_leave_out(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t event = __atomic_exchange_n(&thread->event, SWZ_NO_EVENTS,
					     __ATOMIC_RELAXED);

	cold->events = cold->earlier_events = NULL;
	cold->values = NULL;
	cold->value_at = 0;
	cold->values_full = false;
	swz_switches_leave_out(cold);
	/* the time of a page lies behind its events */
	return event == SWZ_NO_EVENTS ? 0 : (event | SWZ_EVENT_PAGE_MASK) + 1;
}

void swz_events_set_min_time(struct swz_thread *thread)
{
	const struct swz_clock_sample *first = &swz_file->clock[0];
	const struct swz_clock_sample *last = &swz_file->clock[1];
	uint64_t ticks = last->ticks - first->ticks;
	uint64_t ns = last->monotonic_ns - first->monotonic_ns;

	if (!swz_config.min_time || !ns)
		return;
	/* both fit: 2^43 ticks are an hour */
	min_ticks = swz_config.min_time * ((ticks << 20) / ns) >> 20;
	thread->min_ticks = min_ticks;
	swz_file->min_ticks = min_ticks;
}

/* ---------------------------------------------------------------- events */

static bool move(struct swz_thread *thread, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&thread->event, &from, to, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static uint64_t load_event(const struct swz_thread *thread)
{
	return __atomic_load_n(&thread->event, __ATOMIC_RELAXED);
}

bool swz_events_mute(struct swz_thread *thread, const uint64_t *slot)
{
	struct swz_thread_cold *cold = thread->cold;

	if (!swz_tracing || cold->muted_slot ||
	    load_event(thread) == SWZ_NO_EVENTS)
		return false;
	cold->muted_events = 0;
	cold->muted_by = NULL;
	cold->muted_slot = slot;
	cold->muted_event = __atomic_exchange_n(&thread->event, SWZ_NO_EVENTS,
						__ATOMIC_RELAXED);
	return true;
}

/* True if the call that there are no events for runs still: its end may have
 * been another thread's. */
static bool stays_muted(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;

	cold->muted_events++;
	if (!cold->muted_by || cold->muted_frame->slot == cold->muted_slot)
		return true;
	swz_events_mute_by(thread, NULL, NULL);
	return false;
}

/* The thread's next event has no place in the page. False: there is none for it
 * at all. */
static bool turn(struct swz_thread *thread)
{
	uint64_t event = load_event(thread), end, none = 0;

	if (event == SWZ_NO_EVENTS) {
		if (thread->cold->muted_slot)
			return !stays_muted(thread);
		if (swz_config.slow)
			return false;
		thread->record->untraced++;
		return false;
	}
	if (!at_page_end(event)) {
		/* nothing happened for long */
		move(thread, event, event | (SWZ_EVENT_PAGE_MASK - 7));
		return true;
	}
	end = end_of(thread->cold->events);
	if (load_event(thread) != event)
		return true; /* the end may be that of another chunk */
	if (event + 8 == end) {
		swz_slowly(thread, next_chunk, thread);
		if (load_event(thread) != event)
			return true;
		/* the slow stack is in use */
		thread->record->untraced++;
		return false;
	}
	/* Who is first sets the page's time: a handler may come between. */
	__atomic_compare_exchange_n(page_time(event + 8), &none, swz_ticks(),
				    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	move(thread, event, event + 8);
	if (swz_switches_are_due(thread))
		swz_slowly(thread, swz_switches_take, thread);
	return true;
}

enum swz_turn swz_events_turn_in_hook(struct swz_thread *thread)
{
	uint64_t event = load_event(thread);

	/* To come back and try again would not end where handlers fill pages in
	 * the meantime: but for the next page, which is what there mostly is
	 * to do. */
	if (event != SWZ_NO_EVENTS &&
	    (!at_page_end(event) || event + 8 == end_of(thread->cold->events) ||
	     swz_switches_are_due(thread)))
		return SWZ_TURN_SLOWLY;
	return turn(thread) ? SWZ_TURN_AGAIN : SWZ_TURN_NONE;
}

static uint64_t make_event(const struct swz_node *node,
			   enum swz_event_kind kind, uint64_t ticks)
{
	return (uint64_t)swz_unit_of(node) << SWZ_EVENT_NODE_SHIFT |
	       ticks << SWZ_EVENT_TICKS_SHIFT | kind;
}

/* False: something has come between. True also where there is no room. */
static bool try_to_add(struct swz_thread *thread, const struct swz_node *node,
		       enum swz_event_kind kind, uint64_t now)
{
	uint64_t event = load_event(thread), ticks;

	if (at_page_end(event))
		return !turn(thread);
	/* `now` was read before: it may be before the page's time */
	ticks = swz_ticks_of(thread, now) - *page_time(event);
	if ((int64_t)ticks < 0)
		ticks = 0;
	if (ticks > SWZ_EVENT_MOST_TICKS) {
		turn(thread);
		return false;
	}
	if (!move(thread, event, event + 8))
		return false;
	__atomic_store_n((uint64_t *)event, make_event(node, kind, ticks),
			 __ATOMIC_RELAXED);
	return true;
}

static void block_signals(uint64_t *before)
{
	uint64_t all = ~(uint64_t)0;

	swz_need_stack();
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, before, 8);
}

static void restore_signals(const uint64_t *before)
{
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, before, NULL, 8);
}

/* A page that has no event yet begins no later than the first that it gets;
 * with signals blocked. */
static void begin_page(struct swz_thread *thread, uint64_t ticks)
{
	uint64_t event = load_event(thread);

	if (event == SWZ_NO_EVENTS || at_page_end(event) ||
	    ((event & SWZ_EVENT_PAGE_MASK) != 0 &&
	     event != (uintptr_t)(thread->cold->events + 1)))
		return;
	if (*page_time(event) > ticks)
		*page_time(event) = ticks;
}

void swz_events_add(struct swz_thread *thread, const struct swz_node *node,
		    enum swz_event_kind kind, uint64_t now)
{
	uint64_t signals;

	if (!swz_tracing || try_to_add(thread, node, kind, now))
		return;
	/* a handler at each of our instructions would go on for ever */
	block_signals(&signals);
	do
		begin_page(thread, swz_ticks_of(thread, now));
	while (!try_to_add(thread, node, kind, now));
	restore_signals(&signals);
}

static uint64_t add_again(struct swz_thread *thread,
			  const struct swz_thunk *thunk,
			  enum swz_event_kind kind)
{
	uint64_t signals, now;

	block_signals(&signals);
	/* a chunk's end takes its time: the event has that of the node */
	do
		now = swz_now(thread);
	while (swz_tracing &&
	       !try_to_add(thread, swz_unit_at(thunk->node), kind, now));
	restore_signals(&signals);
	return swz_ticks_of(thread, now);
}

uint64_t swz_events_enter_again(struct swz_thread *thread,
				const struct swz_thunk *thunk)
{
	return add_again(thread, thunk, SWZ_EVENT_ENTER);
}

uint64_t swz_events_return_again(struct swz_thread *thread,
				 const struct swz_thunk *thunk)
{
	return add_again(thread, thunk, SWZ_EVENT_RETURN);
}

/* The latest event on the pages of a chunk before a place. */
static uint64_t *latest_in(struct swz_chunk *chunk, uint64_t before)
{
	uint64_t *at = (uint64_t *)before;

	while (at > (uint64_t *)(chunk + 1)) {
		at--;
		if (!at_page_end((uintptr_t)at) && *at)
			return at;
	}
	return NULL;
}

static uint64_t *latest(const struct swz_thread *thread, uint64_t event)
{
	struct swz_chunk *earlier = thread->cold->earlier_events;
	uint64_t *found;

	if (event == SWZ_NO_EVENTS || !thread->cold->events)
		return NULL;
	found = latest_in(thread->cold->events, event);
	if (!found && earlier && earlier->owner == thread->cold->index)
		found = latest_in(earlier, end_of(earlier));
	return found;
}

static bool take_back(struct swz_thread *thread, uint32_t unit, uint64_t start)
{
	uint64_t event = load_event(thread);
	uint64_t *last = latest(thread, event);

	if (!last || *last >> SWZ_EVENT_NODE_SHIFT != unit ||
	    (*last & SWZ_EVENT_KIND_MASK) != SWZ_EVENT_ENTER ||
	    *page_time((uintptr_t)last) +
			    ((uint32_t)*last >> SWZ_EVENT_TICKS_SHIFT) !=
		    swz_ticks_of(thread, start))
		return false;
	__atomic_store_n(last, 0, __ATOMIC_RELAXED);
	/* if a handler comes here, the place stays empty */
	if ((uintptr_t)last + 8 == event)
		move(thread, event, event - 8);
	thread->record->short_calls++;
	return true;
}

bool swz_events_take_back(struct swz_thread *thread,
			  const struct swz_thunk *thunk)
{
	return take_back(thread, thunk->node, thunk->start_ticks);
}

void swz_events_add_end(struct swz_thread *thread, const struct swz_node *node,
			enum swz_event_kind kind, uint64_t start, uint64_t now)
{
	if (!swz_tracing)
		return;
	if (now - start < thread->min_ticks && kind != SWZ_EVENT_SUSPEND &&
	    take_back(thread, swz_unit_of(node), start))
		return;
	swz_events_add(thread, node, kind, now);
}
