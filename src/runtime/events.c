/* Chunks are small at first, since there may be ten thousand threads, and never
 * large: a chunk's pages are made present all at once, and should still be in
 * the cache when they are written.
 *
 * With --ring, chunks that were left wait in a queue, and the oldest is used
 * again when no more may be taken. What an interrupted hook of its former owner
 * may still write there is an event in a wrong thread's chunk, which the reader
 * drops. */

#include "runtime/events.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/config.h"
#include "runtime/context.h"
#include "runtime/file.h"
#include "runtime/hooks.h"

#define FIRST_PAGES 1u
#define LAST_PAGES 64u
/* The main thread's first: room for what the calibration does. */
#define CALIBRATION_PAGES 16u

bool swz_tracing;

static uint64_t min_ticks;

/* The chunks that were left, oldest first, as units of the file. */
static _Atomic uint32_t *left;
static uint64_t left_mask;
static _Atomic uint64_t left_head, left_tail;

void swz_hook_exit_traced(void);

/* ------------------------------------------------------------------ ring */

static void make_ring(void)
{
	uint64_t entries = 2;
	void *memory;

	while (entries < swz_config.max_size / SWZ_EVENT_PAGE + 2)
		entries *= 2;
	memory = swz_sys_mmap(
		NULL, entries * sizeof(*left), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory)
		SWZ_SYSCALL(SYS_madvise, memory, entries * sizeof(*left),
			    MADV_WIPEONFORK);
	left = memory;
	left_mask = entries - 1;
}

static void leave(const struct swz_chunk *chunk)
{
	uint64_t at;

	if (!left || !chunk)
		return;
	at = atomic_fetch_add_explicit(&left_tail, 1, memory_order_relaxed);
	/* release: with all that is in it */
	atomic_store_explicit(&left[at & left_mask], swz_unit_of(chunk),
			      memory_order_release);
}

/* The oldest that was left, emptied; or NULL. */
static struct swz_chunk *take_left(uint32_t owner)
{
	struct swz_chunk *chunk;
	uint32_t unit;

	for (;;) {
		uint64_t at = atomic_load_explicit(&left_head,
						   memory_order_relaxed);

		/* acquire: matches the release in leave() */
		unit = atomic_load_explicit(&left[at & left_mask],
					    memory_order_acquire);
		if (!unit)
			return NULL;
		if (!atomic_compare_exchange_strong_explicit(
			    &left_head, &at, at + 1, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		atomic_store_explicit(&left[at & left_mask], 0,
				      memory_order_relaxed);
		break;
	}
	chunk = swz_unit_at(unit);
	chunk->type = SWZ_CHUNK_PADDING;
	atomic_signal_fence(memory_order_seq_cst);
	memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
	chunk->owner = owner;
	chunk->type = SWZ_CHUNK_EVENTS;
	return chunk;
}

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

/* What is behind us stays in the file, and need not be in our page tables. */
static void let_go(struct swz_chunk *chunk)
{
	if (chunk && !swz_config.ring)
		SWZ_SYSCALL(SYS_madvise, chunk, chunk->bytes, MADV_DONTNEED);
}

static void use_chunk(struct swz_thread *thread, uint32_t pages)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *chunk = swz_chunk_take_events(pages, cold->index);

	if (!chunk && pages > FIRST_PAGES)
		chunk = swz_chunk_take_events(FIRST_PAGES, cold->index);
	if (!chunk && left)
		chunk = take_left(cold->index);
	leave(cold->events);
	cold->earlier_events = cold->events;
	cold->events = chunk;
	if (!chunk) {
		thread->record->untraced_from = swz_ticks();
		thread->event = SWZ_NO_EVENTS;
		return;
	}
	*page_time((uintptr_t)chunk) = swz_ticks();
	swz_chunk_publish(chunk);
	thread->event = (uintptr_t)(chunk + 1);
}

static void next_chunk(void *argument)
{
	struct swz_thread *thread = argument;
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *behind = cold->earlier_events;
	uint64_t pages;

	/* a signal handler may have been here */
	if (!cold->events || thread->event + 8 != end_of(cold->events))
		return;
	pages = 4 * cold->events->bytes / SWZ_EVENT_PAGE;
	use_chunk(thread, pages < LAST_PAGES ? (uint32_t)pages : LAST_PAGES);
	let_go(behind);
}

void swz_events_begin(void)
{
	swz_tracing = true;
	swz_arena_set_exit(swz_hook_exit_traced);
	if (swz_config.ring)
		make_ring();
}

void swz_events_begin_thread(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;

	thread->min_ticks = min_ticks;
	if (!swz_tracing) {
		thread->event = SWZ_NO_EVENTS;
		return;
	}
	if (cold->index == 0 && left) {
		/* also in a forked child, where the queue was wiped */
		left_head = left_tail = 0;
	}
	/* those of a thread that has ended */
	let_go(cold->events);
	let_go(cold->earlier_events);
	cold->events = cold->earlier_events = NULL;
	use_chunk(thread, swz_recording ? FIRST_PAGES : CALIBRATION_PAGES);
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

bool swz_events_turn(struct swz_thread *thread)
{
	uint64_t event = load_event(thread), end, none = 0;

	if (event == SWZ_NO_EVENTS) {
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
		if (swz_thread_on_slow_stack(thread))
			next_chunk(thread); /* signals are blocked */
		else
			swz_hooks_slowly(thread, next_chunk, thread);
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
	return true;
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
		return !swz_events_turn(thread);
	/* `now` was read before: it may be before the page's time */
	ticks = swz_ticks_of(thread, now) - *page_time(event);
	if ((int64_t)ticks < 0)
		ticks = 0;
	if (ticks > SWZ_EVENT_MOST_TICKS) {
		swz_events_turn(thread);
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

	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, before, 8);
}

static void restore_signals(const uint64_t *before)
{
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, before, NULL, 8);
}

void swz_events_add(struct swz_thread *thread, const struct swz_node *node,
		    enum swz_event_kind kind, uint64_t now)
{
	uint64_t signals;

	if (!swz_tracing || try_to_add(thread, node, kind, now))
		return;
	/* a handler at each of our instructions would go on for ever */
	block_signals(&signals);
	while (!try_to_add(thread, node, kind, now))
		;
	restore_signals(&signals);
}

static uint64_t add_again(struct swz_thread *thread,
			  const struct swz_thunk *thunk,
			  enum swz_event_kind kind)
{
	uint64_t signals, now;

	block_signals(&signals);
	now = swz_now(thread);
	swz_events_add(thread, swz_unit_at(thunk->node), kind, now);
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
