#include "runtime/pack.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/config.h"
#include "runtime/event_chunks.h"
#include "runtime/file.h"

#define FIRST_PAGES 4u
#define LAST_PAGES 64u

#define PAGE_WORDS (SWZ_EVENT_PAGE / sizeof(uint64_t))
/* Ticks, ticks that are far, node and kind; of those eight bytes are stored. */
#define MOST_EVENT_BYTES (2 + 8 + 5)
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
	uint64_t place;          /* in the table, of what is expected */
	uint64_t table[SWZ_PACKED_ENTRIES];
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
		       uint64_t ticks)
{
	finish_chunk(packer);
	packer->chunk = swz_event_chunk_take(SWZ_CHUNK_PACKED, packer->pages,
					     FIRST_PAGES, owner);
	if (!packer->chunk)
		return false;
	if (packer->pages < LAST_PAGES)
		packer->pages *= 4;
	packer->at = (uint8_t *)(packer->chunk + 1);
	memcpy(packer->at, &ticks, sizeof(ticks));
	packer->at += sizeof(ticks);
	packer->ticks = ticks;
	packer->place = 0;
	memset(packer->table, 0, sizeof(packer->table));
	swz_chunk_publish(packer->chunk);
	return true;
}

/* What was packed is valid from now on, and the pages it comes from, up to this
 * number, are no more. */
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

/* Appends the events of a page from one place on. NULL: one is missing yet.
 * Without branches for what is as it comes. */
static uint8_t *pack_page(struct swz_packer *packer, const uint64_t *at,
			  const uint64_t *end)
{
	uint64_t time = *end, place = packer->place;
	uint64_t last = packer->ticks - time;
	uint8_t *to = packer->at;

	for (; at < end; at++) {
		uint64_t event = *at, word = event & WORD_MASK, turned;
		uint64_t ticks, since, unexpected;
		uint16_t first;

		if (!event) {
			if (is_end(at, end))
				break;
			if (!swz_config.ring)
				return NULL;
			continue;
		}
		unexpected = packer->table[place] != word;
		packer->table[place] = word;
		place = word * SWZ_PACKED_FACTOR >> SWZ_PACKED_SHIFT;
		ticks = (uint32_t)event >> SWZ_EVENT_TICKS_SHIFT;
		since = ticks - last;
		last = ticks;
		if (since < SWZ_PACKED_FAR) {
			first = (uint16_t)(since << 1 | unexpected);
			memcpy(to, &first, sizeof(first));
		} else {
			first = (uint16_t)(SWZ_PACKED_FAR << 1 | unexpected);
			memcpy(to, &first, sizeof(first));
			memcpy(to + 2, &since, sizeof(since));
			to += sizeof(since);
		}
		turned = event << 32 | event >> 32;
		memcpy(to + 2, &turned, sizeof(turned));
		to += 2 + unexpected * 5;
	}
	packer->ticks = last + time;
	packer->place = place;
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

		if (!has_room(packer) && !next_chunk(packer, owner, *end))
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
