/* Chunks that threads fill with events. A chunk that is full is packed, which
 * makes it a fifth as long, and filled again. */

#include "runtime/record/events.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "swizzle/format.h"
#include "base/event_history.h"
#include "base/syscall.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"

/* ----------------------------------------------------------------- packing */

#define FIRST_PAGES 4u
#define LAST_PAGES 64u
#define PAGE_WORDS (SWZ_EVENT_PAGE / sizeof(uint64_t))
/* Ticks that are far; ticks, node and kind; of those eight bytes are stored. */
#define MOST_EVENT_BYTES (1 + 8 + 1 + 2 + 5)
#define UNROLLED 8u
#define MOST_PAGE_BYTES (PAGE_WORDS * MOST_EVENT_BYTES + 8)
#define WORD_MASK (~(uint64_t)UINT32_MAX | SWZ_EVENT_KIND_MASK)

_Static_assert(sizeof(struct swz_chunk) + sizeof(uint64_t) + MOST_PAGE_BYTES <
		       (size_t)FIRST_PAGES * SWZ_EVENT_PAGE,
	       "a chunk must hold a page");

struct swz_packer {
	struct swz_chunk *chunk; /* that is filled, or NULL */
	uint32_t pages;          /* of the next */
	uint8_t *at;             /* in it, of the next event */
	uint64_t ticks;          /* of the event before */
	struct swz_event_history history;
};

struct swz_packer *swz_packer_new(void)
{
	struct swz_packer *packer = swz_sys_mmap(
		NULL, sizeof(*packer), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (packer)
		packer->pages = FIRST_PAGES;
	return packer;
}

void swz_packer_forget(struct swz_packer *packer)
{
	if (!packer)
		return;
	packer->chunk = NULL;
	packer->pages = FIRST_PAGES;
}

static void finish_chunk(struct swz_packer *packer)
{
	swz_event_chunk_leave(packer->chunk);
	packer->chunk = NULL;
}

void swz_packer_restart(struct swz_packer *packer)
{
	if (!packer)
		return;
	finish_chunk(packer);
	swz_packer_forget(packer);
}

static bool has_room(const struct swz_packer *packer)
{
	const struct swz_chunk *chunk = packer->chunk;

	return chunk &&
	       (uintptr_t)chunk + chunk->bytes - (uintptr_t)packer->at >=
		       MOST_PAGE_BYTES;
}

static bool next_chunk(struct swz_packer *packer, uint32_t owner,
		       uint64_t number, uint64_t ticks)
{
	const struct swz_chunk *full = packer->chunk;

	finish_chunk(packer);
	packer->chunk = swz_event_chunk_take(SWZ_CHUNK_PACKED, packer->pages,
					     FIRST_PAGES, owner);
	if (!packer->chunk)
		return false; /* maybe because system calls were given up */
	swz_event_chunk_pass(full);
	if (packer->pages < LAST_PAGES)
		packer->pages *= 4;
	packer->chunk->reserved[SWZ_PACKED_FIRST] = number + 1;
	packer->at = (uint8_t *)(packer->chunk + 1);
	memcpy(packer->at, &ticks, sizeof(ticks));
	packer->at += sizeof(ticks);
	packer->ticks = ticks;
	swz_history_begin(&packer->history);
	swz_chunk_publish(packer->chunk);
	return true;
}

/* The packed pages are valid from now on. The pages that they come from, up to
 * this number, are not any more. */
static void publish(const struct swz_packer *packer, uint64_t pages)
{
	uint64_t bytes = (uint64_t)(packer->at -
				    (uint8_t *)(packer->chunk + 1));

	__atomic_store_n(&packer->chunk->reserved[SWZ_PACKED_STATE],
			 pages << 32 | bytes, __ATOMIC_RELEASE);
}

/* A place in a page that is empty, but not those behind it, is that of a hook
 * that was interrupted before it wrote its event. */
static bool is_end(const uint64_t *at, const uint64_t *end)
{
	while (at < end && !*at)
		at++;
	return at == end;
}

static uint8_t *put(uint8_t *to, uint64_t value, size_t bytes)
{
	memcpy(to, &value, sizeof(value));
	return to + bytes;
}

/* Without branches between the last two: which it is nobody can foresee. */
static uint8_t *pack_event(struct swz_event_history *history, uint64_t event,
			   uint64_t since, uint8_t *to)
{
	uint64_t word = event & WORD_MASK;
	uint64_t back = swz_history_last(history) | SWZ_EVENT_RETURN;
	bool returns = word == back;

	if (since > UINT16_MAX) {
		*to++ = SWZ_PACKED_FAR;
		to = put(to, since, 8);
		since = 0;
	}
	since <<= 8;
	if (word == swz_history_expected(history)) {
		to = put(to, SWZ_PACKED_EXPECTED | since, 3);
	} else {
		to = put(to, (SWZ_PACKED_SPELLED - returns) | since, 3);
		to = put(to, event << 32 | event >> 32, returns ? 0 : 5);
	}
	swz_history_put(history, word);
	return to;
}

/* False: it is not what is expected, or too far from the one before. */
static inline bool pack_one(const uint64_t *event, const uint64_t *expected,
			    uint64_t *kept, uint64_t *last, uint8_t *to)
{
	uint64_t word = *event & WORD_MASK;
	uint64_t ticks = (uint32_t)*event >> SWZ_EVENT_TICKS_SHIFT;
	uint64_t since = ticks - *last;

	if (word != *expected || since > SWZ_PACKED_MOST)
		return false;
	*to = (uint8_t)since;
	*kept = word;
	*last = ticks;
	return true;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Packs events as long as that is a byte each, and up to where there is
 * something to learn, or an end of the history; returns how many. */
static size_t pack_run(struct swz_event_history *history, const uint64_t *at,
		       const uint64_t *end, uint64_t *last, uint8_t *to)
{
	const uint64_t *expected = &history->words[history->expected];
	uint64_t *kept = &history->words[history->next];
	size_t before_wrap = SWZ_PACKED_HISTORY - history->expected;
	size_t most = SWZ_PACKED_INTERVAL - history->next % SWZ_PACKED_INTERVAL;
	size_t i = 0;

	most = least(most, least(before_wrap, (size_t)(end - at)));
	for (; most - i >= UNROLLED; i += UNROLLED)
#pragma GCC unroll 8
		for (size_t j = i; j < i + UNROLLED; j++)
			if (!pack_one(at + j, expected + j, kept + j, last,
				      to + j))
				return j;
	for (; i < most; i++)
		if (!pack_one(at + i, expected + i, kept + i, last, to + i))
			break;
	return i;
}

/* Appends the events of a page from one place on. NULL: one is missing yet. */
static uint8_t *pack_page(struct swz_packer *packer, const uint64_t *at,
			  const uint64_t *end)
{
	struct swz_event_history *history = &packer->history;
	uint64_t time = *end, last = packer->ticks - time;
	uint8_t *to = packer->at;

	while (at < end) {
		size_t count = 0;
		uint64_t ticks;

		if ((*at & WORD_MASK) == swz_history_expected(history))
			count = pack_run(history, at, end, &last, to);
		if (count) {
			swz_history_advance(history, (uint32_t)count);
			at += count;
			to += count;
			continue;
		}
		if (*at) {
			ticks = (uint32_t)*at >> SWZ_EVENT_TICKS_SHIFT;
			to = pack_event(history, *at, ticks - last, to);
			last = ticks;
		} else if (is_end(at, end)) {
			break;
		} else if (!swz_config.ring) {
			return NULL;
		}
		at++;
	}
	packer->ticks = last + time;
	return to;
}

enum swz_packing swz_pack(struct swz_packer *packer, struct swz_chunk *events,
			  uint32_t owner)
{
	uint64_t number = events->reserved[SWZ_EVENTS_FIRST];
	uint64_t pages = events->bytes / SWZ_EVENT_PAGE, i;
	const uint64_t *at = (const uint64_t *)(events + 1);
	const uint64_t *page = (const uint64_t *)events;

	for (i = 0; i < pages; i++, number++) {
		const uint64_t *end = page + PAGE_WORDS - 1;
		uint8_t *to;

		if (!has_room(packer) &&
		    !next_chunk(packer, owner, number, *end))
			return SWZ_PACKING_FULL;
		to = pack_page(packer, at, end);
		if (!to) {
			events->reserved[SWZ_EVENTS_KEPT] = number + 1;
			/* what follows is later than these pages */
			finish_chunk(packer);
			return SWZ_PACKING_HELD;
		}
		packer->at = to;
		publish(packer, number + 1);
		page += PAGE_WORDS;
		at = page;
	}
	return SWZ_PACKING_DONE;
}

/* ------------------------------------------------------------------ chunks */

bool swz_tracing;

/* The chunks that were left, oldest first, as units of the file: a queue. */
static _Atomic uint32_t *left;
static uint64_t left_mask;
static _Atomic uint64_t left_head, left_tail;

void swz_event_chunks_begin(void)
{
	uint64_t entries = 2;
	void *memory;

	if (!swz_config.ring && !swz_config.slow)
		return;
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

void swz_event_chunks_forget(void)
{
	left_head = left_tail = 0;
}

void swz_event_chunk_leave(const struct swz_chunk *chunk)
{
	uint64_t at;

	if (!left || !chunk)
		return;
	at = atomic_fetch_add_explicit(&left_tail, 1, memory_order_relaxed);
	/* release: with all that is in it */
	atomic_store_explicit(&left[at & left_mask], swz_unit_of(chunk),
			      memory_order_release);
}

void swz_event_chunk_pass(const struct swz_chunk *chunk)
{
	uint64_t first = (uintptr_t)chunk & -(uint64_t)SWZ_HUGE_PAGE;
	uint64_t end = first + SWZ_HUGE_PAGE;

	/* no part of it: a large folio may be mapped by one entry */
	if (!chunk || left || (uintptr_t)chunk + chunk->bytes < end)
		return;
	if (first < (uintptr_t)swz_file)
		first = (uintptr_t)swz_file;
	SWZ_SYSCALL(SYS_madvise, first, end - first, MADV_DONTNEED);
}

/* The oldest that was left; or NULL. */
static struct swz_chunk *oldest(void)
{
	for (;;) {
		uint64_t at = atomic_load_explicit(&left_head,
						   memory_order_relaxed);
		/* acquire: matches the release in swz_event_chunk_leave() */
		uint32_t unit = atomic_load_explicit(&left[at & left_mask],
						     memory_order_acquire);

		if (!unit)
			return NULL;
		if (!atomic_compare_exchange_strong_explicit(
			    &left_head, &at, at + 1, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		atomic_store_explicit(&left[at & left_mask], 0,
				      memory_order_relaxed);
		return swz_unit_at(unit);
	}
}

static struct swz_chunk *take_left(enum swz_chunk_type type, uint32_t least,
				   uint32_t owner)
{
	struct swz_chunk *chunk;

	if (!left)
		return NULL;
	do
		chunk = oldest();
	while (chunk && chunk->bytes < (uint64_t)least * SWZ_EVENT_PAGE);
	if (!chunk)
		return NULL;
	chunk->type = SWZ_CHUNK_PADDING;
	atomic_signal_fence(memory_order_seq_cst);
	memset(chunk->reserved, 0, sizeof(chunk->reserved));
	chunk->count = 0;
	if (type != SWZ_CHUNK_PACKED)
		memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
	chunk->owner = owner;
	atomic_signal_fence(memory_order_seq_cst);
	chunk->type = type;
	return chunk;
}

struct swz_chunk *swz_event_chunk_take(enum swz_chunk_type type, uint32_t pages,
				       uint32_t least, uint32_t owner)
{
	struct swz_chunk *chunk = NULL;

	if (swz_config.slow)
		chunk = take_left(type, least, owner);
	if (!chunk)
		chunk = swz_chunk_take_events(type, pages, owner);
	if (!chunk && pages > least)
		chunk = swz_chunk_take_events(type, least, owner);
	if (!chunk)
		chunk = take_left(type, least, owner);
	return chunk;
}
