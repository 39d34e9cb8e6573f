#include "profile/file/event_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/event_history.h"
#include "profile/support/memory.h"

#define BUFFER_BYTES (16 * (size_t)SWZ_EVENT_PAGE)
#define PAGE_EVENTS (SWZ_EVENT_PAGE / sizeof(uint64_t) - 1)
/* Ticks that are far; ticks, node and kind. */
#define MOST_EVENT_BYTES (1 + 8 + 1 + 2 + 5)

struct swz_event_words {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	size_t chunk;    /* the next */
	uint64_t offset; /* in the file, of what is not in the buffer yet */
	uint64_t left;   /* bytes of the chunk from there on */
	uint64_t position;
	uint64_t lost;
	bool packed;
	/* the buffer: of pages whole ones */
	size_t at, end;
	size_t event; /* in the page at `at` */
	/* packed: */
	uint64_t ticks;
	struct swz_event_history history;
	uint8_t buffer[BUFFER_BYTES];
};

struct swz_event_words *swz_event_words_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_event_words *words = swz_allocate(1, sizeof(*words));

	words->profile = profile;
	words->thread = thread;
	return words;
}

void swz_event_words_close(struct swz_event_words *words)
{
	free(words);
}

uint64_t swz_event_words_position(const struct swz_event_words *words)
{
	return words->position;
}

uint64_t swz_event_words_lost(const struct swz_event_words *words)
{
	return words->lost;
}

static bool begin_chunk(struct swz_event_words *words)
{
	const struct swz_event_chunk *chunk;

	if (words->chunk == words->thread->event_chunk_count)
		return false;
	chunk = &words->thread->event_chunks[words->chunk++];
	words->offset = chunk->offset;
	words->left = chunk->bytes;
	words->packed = chunk->packed;
	words->at = words->end = 0;
	words->event = chunk->first_event;
	words->ticks = chunk->ticks;
	if (chunk->packed)
		swz_history_begin(&words->history);
	return true;
}

/* Moves what is left in the buffer to its start and fills the rest. */
static void fill(struct swz_event_words *words)
{
	size_t rest = words->end - words->at, size = BUFFER_BYTES - rest, got;

	memmove(words->buffer, words->buffer + words->at, rest);
	words->at = 0;
	words->end = rest;
	if (size > words->left)
		size = (size_t)words->left;
	if (words->packed)
		got = swz_profile_bytes(words->profile, words->offset,
					words->buffer + rest, size);
	else
		got = swz_profile_loaded(words->profile, words->offset,
					 words->buffer + rest, size);
	words->offset += size;
	words->position += size;
	words->left -= size;
	if (!words->packed)
		got -= got % SWZ_EVENT_PAGE;
	words->end += got;
	if (got < size) {
		words->lost += (size - got + SWZ_EVENT_PAGE - 1) /
			       SWZ_EVENT_PAGE;
		words->left = 0;
	}
}

static uint64_t word_at(const struct swz_event_words *words, size_t offset,
			size_t size)
{
	uint64_t value = 0;

	memcpy(&value, words->buffer + offset, size);
	return value;
}

/* False: the page that begins at `at` has no more. */
static bool next_in_page(struct swz_event_words *words,
			 struct swz_event_word *word)
{
	uint64_t time = word_at(words, words->at + 8 * PAGE_EVENTS, 8), event;

	/* a page without a time was not begun */
	while (time && words->event < PAGE_EVENTS) {
		event = word_at(words, words->at + 8 * words->event++, 8);
		if (!event)
			continue;
		word->unit = (uint32_t)(event >> SWZ_EVENT_NODE_SHIFT);
		word->kind = event & SWZ_EVENT_KIND_MASK;
		word->ticks = time + ((uint32_t)event >> SWZ_EVENT_TICKS_SHIFT);
		return true;
	}
	return false;
}

/* What stands behind the first byte of a packed event. */
static size_t operand_bytes(uint8_t first)
{
	static const uint8_t bytes[] = {
		[SWZ_PACKED_EXPECTED - SWZ_PACKED_EXPECTED] = 2,
		[SWZ_PACKED_RETURN - SWZ_PACKED_EXPECTED] = 2,
		[SWZ_PACKED_SPELLED - SWZ_PACKED_EXPECTED] = 2 + 5};

	return first <= SWZ_PACKED_MOST ? 0
					: bytes[first - SWZ_PACKED_EXPECTED];
}

/* False: what is there is no event. */
static bool next_packed(struct swz_event_words *words,
			struct swz_event_word *word)
{
	size_t at = words->at, bytes;
	uint64_t since, far = 0, event;
	uint8_t first;

	if (words->end - at > 9 && words->buffer[at] == SWZ_PACKED_FAR) {
		far = word_at(words, at + 1, 8);
		at += 9;
	}
	if (at == words->end || words->buffer[at] == SWZ_PACKED_FAR)
		return false;
	first = words->buffer[at++];
	bytes = operand_bytes(first);
	if (words->end - at < bytes)
		return false;
	since = bytes ? word_at(words, at, 2) : first;
	event = swz_history_expected(&words->history);
	if (first == SWZ_PACKED_RETURN)
		event = swz_history_last(&words->history) | SWZ_EVENT_RETURN;
	if (first == SWZ_PACKED_SPELLED)
		event = word_at(words, at + 2, 4) << SWZ_EVENT_NODE_SHIFT |
			(words->buffer[at + 6] & SWZ_EVENT_KIND_MASK);
	if (event == SWZ_NO_EVENT_WORD)
		return false;
	words->at = at + bytes;
	words->ticks += far + since;
	swz_history_put(&words->history, event);
	word->unit = (uint32_t)(event >> SWZ_EVENT_NODE_SHIFT);
	word->kind = event & SWZ_EVENT_KIND_MASK;
	word->ticks = words->ticks;
	return true;
}

bool swz_event_words_next(struct swz_event_words *words,
			  struct swz_event_word *word)
{
	for (;;) {
		if (words->packed) {
			if (words->end - words->at < MOST_EVENT_BYTES &&
			    words->left)
				fill(words);
			if (next_packed(words, word))
				return true;
			words->lost += words->at < words->end;
		} else if (words->at < words->end) {
			if (next_in_page(words, word))
				return true;
			words->at += SWZ_EVENT_PAGE;
			words->event = 0;
			continue;
		} else if (words->left) {
			fill(words);
			continue;
		}
		if (!begin_chunk(words))
			return false;
	}
}
