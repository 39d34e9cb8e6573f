#include "profile/event_words.h"

#include <stdlib.h>
#include <string.h>

#include "profile/memory.h"

#define BUFFER_BYTES (16 * (size_t)SWZ_EVENT_PAGE)
#define PAGE_EVENTS (SWZ_EVENT_PAGE / sizeof(uint64_t) - 1)
/* Ticks, ticks that are far, node and kind. */
#define MOST_EVENT_BYTES (2 + 8 + 5)

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
	uint64_t place; /* in the table */
	uint64_t table[SWZ_PACKED_ENTRIES];
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
	words->place = 0;
	if (chunk->packed)
		memset(words->table, 0, sizeof(words->table));
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

/* False: what is there is no event. */
static bool next_packed(struct swz_event_words *words,
			struct swz_event_word *word)
{
	size_t rest = words->end - words->at, at = words->at;
	uint64_t since, event;
	bool unexpected;

	if (rest < 2)
		return false;
	since = word_at(words, at, 2);
	at += 2;
	unexpected = since & 1;
	since >>= 1;
	if (rest <
	    2 + 8 * (size_t)(since == SWZ_PACKED_FAR) + 5 * (size_t)unexpected)
		return false;
	if (since == SWZ_PACKED_FAR) {
		since = word_at(words, at, 8);
		at += 8;
	}
	event = words->table[words->place];
	if (unexpected) {
		event = word_at(words, at, 4) << SWZ_EVENT_NODE_SHIFT |
			(words->buffer[at + 4] & SWZ_EVENT_KIND_MASK);
		at += 5;
		words->table[words->place] = event;
	}
	words->at = at;
	words->place = event * SWZ_PACKED_FACTOR >> SWZ_PACKED_SHIFT;
	words->ticks += since;
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
