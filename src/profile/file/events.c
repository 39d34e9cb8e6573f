/* Events are read as words (pages, or packed streams), nested into begins and
 * ends, and made up where the file does not hold them. */

#include "profile/file/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/event_history.h"
#include "util/memory.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"

/* --- words of the file --------------------------------------------------- */

/* The events of a thread as the file has them, one after the other, from pages
 * and from packed streams. Nothing is checked but where they lie. */

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
	bool after_hole; /* pages: the event read last follows an empty place */
	/* the buffer: of pages whole ones */
	size_t at, end;
	size_t event; /* in the page at `at` */
	/* packed: */
	uint64_t ticks;
	struct swz_event_history history;
	uint8_t buffer[BUFFER_BYTES];
};

/* Both must outlive it. */
static struct swz_event_words *event_words_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_event_words *words = swz_allocate(1, sizeof(*words));

	words->profile = profile;
	words->thread = thread;
	return words;
}

static void event_words_close(struct swz_event_words *words)
{
	free(words);
}

/* Bytes of the file that were read. */
static uint64_t event_words_position(const struct swz_event_words *words)
{
	return words->position;
}

/* Pages that could not be read, and streams that end in an event. */
static uint64_t event_words_lost(const struct swz_event_words *words)
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

/* With --ring a chunk may be used again while it is read; then it begins at
 * another time. */
static bool is_unchanged(const struct swz_event_words *words)
{
	const struct swz_event_chunk *chunk =
		&words->thread->event_chunks[words->chunk - 1];
	uint64_t ticks = 0;

	if (!(words->profile->header.flags & SWZ_FILE_RING))
		return true;
	swz_profile_bytes(words->profile, chunk->offset - sizeof(ticks), &ticks,
			  sizeof(ticks));
	return ticks == chunk->ticks;
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
	if (words->packed && !is_unchanged(words))
		got = 0;
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

	words->after_hole = false;
	/* a page without a time was not begun */
	while (time && words->event < PAGE_EVENTS) {
		event = word_at(words, words->at + 8 * words->event++, 8);
		if (!event) {
			words->after_hole = true;
			continue;
		}
		word->unit = (uint32_t)(event >> SWZ_EVENT_NODE_SHIFT);
		word->kind = event & SWZ_EVENT_KIND_MASK;
		word->ticks = time + ((uint32_t)event >> SWZ_EVENT_TICKS_SHIFT);
		return true;
	}
	return false;
}

/* Bytes behind the first one of a packed event. */
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
	words->after_hole = false;
	words->at = at + bytes;
	words->ticks += far + since;
	swz_history_put(&words->history, event);
	word->unit = (uint32_t)(event >> SWZ_EVENT_NODE_SHIFT);
	word->kind = event & SWZ_EVENT_KIND_MASK;
	word->ticks = words->ticks;
	return true;
}

/* False: there is no more. */
static bool event_words_next(struct swz_event_words *words,
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

/* --- while it grows ------------------------------------------------------ */

/* Events move: what was read from a page is in a packed chunk the next time. So
 * a place is not an offset but the event itself, with its time, and is looked
 * for in the chunk whose times it fits. */

struct swz_new_events {
	struct swz_event_words *words;
	struct swz_profile_thread thread; /* chunks up to a gap */
	struct swz_events_place *place;
	uint64_t until, enters_until, hole_ticks;
	bool has_gap, ended, wait;
};

/* The reader meets chunks one after the other, and the thread goes on: it may
 * have packed one and filled it again before the next one was read. What lies
 * between is read next time. */
static size_t count_adjacent(const struct swz_profile *profile,
			     const struct swz_profile_thread *thread)
{
	bool ring = profile->header.flags & SWZ_FILE_RING;
	const struct swz_event_chunk *chunks = thread->event_chunks;
	uint64_t next = 0;
	bool known = !ring;
	size_t i;

	for (i = 0; i < thread->event_chunk_count; i++) {
		if (!chunks[i].packed && known && chunks[i].number != next)
			return i;
		next = chunks[i].number;
		if (!chunks[i].packed)
			next += chunks[i].bytes / SWZ_EVENT_PAGE;
		known = true;
	}
	return i;
}

static bool is_same_word(const struct swz_event_word *a,
			 const struct swz_event_word *b)
{
	return a->unit == b->unit && a->kind == b->kind && a->ticks == b->ticks;
}

static void restart(struct swz_new_events *events)
{
	const struct swz_profile *profile = events->words->profile;

	event_words_close(events->words);
	events->words = event_words_open(profile, &events->thread);
}

/* Reads up to the place, which is in the last chunk that begins no later or, as
 * times may go back a little, in the one before. */
static void find_place(struct swz_new_events *events)
{
	const struct swz_event_chunk *chunks = events->thread.event_chunks;
	const struct swz_event_word *last = &events->place->last;
	struct swz_event_word word;
	size_t first = 0;

	while (first + 1 < events->thread.event_chunk_count &&
	       chunks[first + 1].ticks <= last->ticks)
		first++;
	if (first)
		first--;
	events->words->chunk = first;
	while (event_words_next(events->words, &word))
		if (is_same_word(&word, last))
			return;
	/* it was overwritten (--ring), or lies behind a gap */
	events->place->lost = !events->has_gap;
	events->ended = true;
	events->wait = events->has_gap;
}

/* The first event that is later than the place, which is gone. */
static void skip_earlier(struct swz_new_events *events)
{
	uint64_t ticks = events->place->last.ticks;
	struct swz_event_word word;
	uint64_t count = 0;

	while (event_words_next(events->words, &word) && word.ticks <= ticks)
		count++;
	restart(events);
	while (count-- && event_words_next(events->words, &word))
		;
}

uint64_t swz_late_ticks(const struct swz_profile *profile)
{
	double ticks = 0.2e9 * (double)profile->clock_ticks /
		       (double)profile->clock_ns;

	return ticks < 0x1p62 ? (uint64_t)ticks : 0;
}

struct swz_new_events *swz_new_events_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread, struct swz_events_place *place,
	uint64_t until)
{
	struct swz_new_events *events = swz_allocate(1, sizeof(*events));

	events->thread = *thread;
	events->thread.event_chunk_count = count_adjacent(profile, thread);
	events->has_gap = events->thread.event_chunk_count <
			  thread->event_chunk_count;
	events->words = event_words_open(profile, &events->thread);
	events->place = place;
	events->until = events->enters_until = until;
	events->hole_ticks = swz_late_ticks(profile);
	/* a call that ends sooner is taken back */
	if (until != UINT64_MAX && until > profile->header.min_ticks)
		events->enters_until = until - profile->header.min_ticks;
	if (place->last.unit && place->lost)
		skip_earlier(events);
	else if (place->last.unit)
		find_place(events);
	return events;
}

void swz_new_events_close(struct swz_new_events *events)
{
	if (!events)
		return;
	event_words_close(events->words);
	free(events);
}

/* True if what is missing before an event may come yet. */
static bool waits_for_hole(struct swz_new_events *events,
			   const struct swz_event_word *word)
{
	struct swz_events_place *place = events->place;

	if (!events->words->after_hole || events->until == UINT64_MAX)
		return false;
	if (place->hole != word->ticks) {
		place->hole = word->ticks;
		place->hole_since = events->until;
		return true;
	}
	return events->until - place->hole_since < events->hole_ticks;
}

bool swz_new_events_next(struct swz_new_events *events,
			 struct swz_event_word *word)
{
	if (events->ended)
		return false;
	if (!event_words_next(events->words, word)) {
		events->ended = true;
		events->wait = events->has_gap;
	} else if (word->ticks > (word->kind == SWZ_EVENT_ENTER
					  ? events->enters_until
					  : events->until)) {
		events->ended = true;
	} else {
		events->ended = events->wait = waits_for_hole(events, word);
	}
	if (events->ended)
		return false;
	events->place->last = *word;
	events->place->lost = false;
	return true;
}

bool swz_new_events_wait(const struct swz_new_events *events)
{
	return events->wait;
}

/* --- from when to when --------------------------------------------------- */

/* True if events from that time on had no room. */
static bool events_stopped(const struct swz_profile_thread *thread)
{
	return thread->record.untraced_from && thread->record.untraced;
}

static uint64_t count_calls(const struct swz_profile *profile,
			    const struct swz_profile_thread *thread)
{
	uint64_t calls = 0;
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			const struct swz_node *node = swz_profile_node(
				profile, thread->spans[i].unit + j);

			if (node->function != SWZ_FUNCTION_NONE)
				calls = swz_add_count(calls, node->calls);
		}
	return calls;
}

/* A thread's older events were overwritten if its first page is not there any
 * more. */
static bool begins_late(const struct swz_profile *profile,
			const struct swz_profile_thread *thread)
{
	if (!(profile->header.flags & SWZ_FILE_RING))
		return false;
	return thread->event_chunk_count ? !thread->event_chunks[0].is_first
					 : count_calls(profile, thread) != 0;
}

static uint64_t clamp(const struct swz_profile_thread *thread, uint64_t ticks)
{
	if (ticks < thread->record.start_ticks)
		return thread->record.start_ticks;
	return ticks > thread->last_ticks ? thread->last_ticks : ticks;
}

/* The thread's last moment if it has none. */
static uint64_t first_event(const struct swz_profile *profile,
			    const struct swz_profile_thread *thread)
{
	struct swz_event_words *words = event_words_open(profile, thread);
	struct swz_event_word word = {.ticks = thread->last_ticks};

	(void)event_words_next(words, &word);
	event_words_close(words);
	return clamp(thread, word.ticks);
}

/* The thread's start if it has none. Times may go back a little: the latest of
 * its last chunk that has any. */
static uint64_t last_event(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	uint64_t last = 0;
	size_t i;

	for (i = thread->event_chunk_count; i-- > 0 && !last;) {
		struct swz_profile_thread part = *thread;
		struct swz_event_words *words;
		struct swz_event_word word;

		part.event_chunks += i;
		part.event_chunk_count = 1;
		words = event_words_open(profile, &part);
		while (event_words_next(words, &word))
			if (word.ticks > last)
				last = word.ticks;
		event_words_close(words);
	}
	return clamp(thread, last);
}

struct swz_event_extent swz_event_extent(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = {thread->record.start_ticks,
					  thread->last_ticks};

	if (begins_late(profile, thread))
		extent.from = first_event(profile, thread);
	if (events_stopped(thread))
		extent.to = last_event(profile, thread);
	/* nothing is there, or the file contradicts itself */
	if (extent.to < extent.from)
		extent.from = extent.to = thread->last_ticks;
	return extent;
}

bool swz_event_extent_is_partial(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = swz_event_extent(profile, thread);

	return extent.from > thread->record.start_ticks ||
	       extent.to < thread->last_ticks;
}

/* --- begins and ends ----------------------------------------------------- */

#define CACHE_ENTRIES 4096u

/* How far up the stack an end may find its begin. What is farther is stray: a
 * forged file could make each search as long as it is itself. */
#define MOST_TORN 1024u

/* How long a path of contexts may be: more means a circle. */
#define MOST_PATH (1u << 20)

struct node {
	uint32_t unit; /* 0: none */
	uint32_t function;
	uint64_t call_site;
	bool hidden;
};

struct frame {
	struct node node;
	uint8_t how;
	bool cut; /* its begin is made up */
};

struct swz_events {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	struct swz_event_words *words;
	struct swz_sample_spans *spans; /* in place of these; or NULL */
	uint64_t ticks;                 /* latest read; never goes back */
	uint64_t now;                   /* of what is handed out */
	uint64_t first;                 /* of the first event */
	/* what is open */
	struct frame *stack;
	size_t depth, visible, capacity;
	/* what is to be handed out before the next is read */
	size_t begun; /* of the stack: so many have been begun */
	size_t keep;  /* of the stack: what lies above ends */
	uint8_t ending;
	bool ending_cut;
	bool has_raw;
	struct swz_event_word raw;
	bool started, finished, in_range, show_hidden;
	const struct swz_unit_set *shown; /* NULL: all */
	uint64_t from, to;
	struct swz_event_extent extent;
	/* times without events, in the range: before and after all others */
	struct gap {
		uint64_t from, to;
	} before, after;
	struct gap *in; /* the one that has begun and not ended */
	struct swz_events_damage damage;
	struct node cache[CACHE_ENTRIES];
};

struct swz_events *swz_events_open(const struct swz_profile *profile,
				   const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_allocate(1, sizeof(*events));

	events->profile = profile;
	events->thread = thread;
	events->words = event_words_open(profile, thread);
	events->spans = swz_sample_spans_open(profile, thread);
	events->ticks = thread->record.start_ticks;
	events->extent = swz_event_extent(profile, thread);
	swz_events_limit(events, 0, UINT64_MAX);
	return events;
}

void swz_events_close(struct swz_events *events)
{
	if (!events)
		return;
	event_words_close(events->words);
	swz_sample_spans_close(events->spans);
	free(events->stack);
	free(events);
}

void swz_events_show_hidden(struct swz_events *events)
{
	events->show_hidden = true;
}

void swz_events_show_only(struct swz_events *events,
			  const struct swz_unit_set *shown)
{
	events->shown = shown;
}

static struct gap limit(const struct swz_events *events, uint64_t from,
			uint64_t to)
{
	if (from < events->from)
		from = events->from;
	if (to > events->to)
		to = events->to;
	return (struct gap){from, to > from ? to : from};
}

void swz_events_limit(struct swz_events *events, uint64_t from, uint64_t to)
{
	events->from = from;
	events->to = to;
	events->before = limit(events, events->thread->record.start_ticks,
			       events->extent.from);
	events->after = limit(events, events->extent.to,
			      events->thread->last_ticks);
}

const struct swz_events_damage *swz_events_damage(
	const struct swz_events *events)
{
	return &events->damage;
}

uint64_t swz_events_position(const struct swz_events *events)
{
	return event_words_position(events->words);
}

uint64_t swz_events_size(const struct swz_profile_thread *thread)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < thread->event_chunk_count; i++)
		size += thread->event_chunks[i].bytes;
	return size;
}

bool swz_profile_traced(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_TRACED;
}

uint64_t swz_profile_origin(const struct swz_profile *profile)
{
	uint64_t origin = UINT64_MAX;
	size_t i;

	if (profile->origin_ticks)
		return profile->origin_ticks;
	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].record.start_ticks < origin)
			origin = profile->threads[i].record.start_ticks;
	return profile->thread_count ? origin : profile->header.start_ticks;
}

int64_t swz_events_ns(const struct swz_profile *profile, uint64_t ticks)
{
	return swz_profile_ns(profile,
			      (int64_t)(ticks - swz_profile_origin(profile)));
}

/* ---- what the file says ---- */

/* NULL: no node of this thread. */
static const struct node *find_node(struct swz_events *events, uint32_t unit)
{
	struct node *node = &events->cache[unit % CACHE_ENTRIES];
	const struct swz_node *slot;

	if (node->unit == unit && unit)
		return node;
	if (!swz_thread_has_node(events->thread, unit))
		return NULL;
	slot = swz_profile_node(events->profile, unit);
	if (slot->function == SWZ_FUNCTION_NONE ||
	    slot->function == SWZ_FUNCTION_ROOT)
		return NULL;
	*node = (struct node){
		.unit = unit,
		.function = swz_profile_function_by_id(events->profile,
						       slot->function),
		.call_site = slot->call_site,
		.hidden = slot->function == SWZ_FUNCTION_OURSELVES ||
			  slot->open & SWZ_NODE_HIDDEN ||
			  (events->shown &&
			   !swz_unit_set_has(events->shown, unit)),
	};
	return node;
}

/* Spans of samples begin and end with these. */
static bool next_word(struct swz_events *events, struct swz_event_word *word)
{
	bool begins;

	if (!events->spans)
		return event_words_next(events->words, word);
	if (!swz_sample_spans_next(events->spans, &word->unit, &begins,
				   &word->ticks))
		return false;
	word->kind = begins ? SWZ_EVENT_ENTER : SWZ_EVENT_RETURN;
	return true;
}

static bool next_raw(struct swz_events *events)
{
	uint64_t last = events->thread->last_ticks;
	struct swz_event_word *raw = &events->raw;

	while (next_word(events, raw)) {
		if (raw->kind > SWZ_EVENT_JUMP) {
			events->damage.foreign++;
			continue;
		}
		if (raw->ticks < events->ticks)
			raw->ticks = events->ticks;
		/* the file may be read while it is written */
		if (raw->ticks > last)
			raw->ticks = last > events->ticks ? last
							  : events->ticks;
		events->ticks = raw->ticks;
		return true;
	}
	events->damage.lost_pages = event_words_lost(events->words);
	return false;
}

/* ---- what is open ---- */

static void push(struct swz_events *events, const struct node *node,
		 uint8_t how, bool cut)
{
	swz_grow(&events->stack, &events->capacity, events->depth,
		 sizeof(*events->stack));
	events->stack[events->depth++] = (struct frame){
		.node = *node, .how = how, .cut = cut};
	events->keep = events->depth;
}

static bool is_begin(uint8_t kind)
{
	return kind == SWZ_EVENT_ENTER || kind == SWZ_EVENT_RESUME ||
	       kind == SWZ_EVENT_JUMP;
}

/* The path that was open before the first event: its context, and itself if it
 * ends. */
static void push_path(struct swz_events *events)
{
	uint32_t unit = events->raw.unit;
	size_t length = 0, i;

	if (!find_node(events, unit))
		return;
	if (is_begin(events->raw.kind))
		unit = swz_profile_node(events->profile, unit)->parent;
	while (find_node(events, unit) && length < MOST_PATH) {
		const struct node *node = find_node(events, unit);

		push(events, node, SWZ_EVENT_ENTER, true);
		length++;
		unit = swz_profile_node(events->profile, unit)->parent;
	}
	if (length == MOST_PATH)
		events->depth = length = 0;
	for (i = 0; i < length / 2; i++) {
		struct frame frame = events->stack[i];

		events->stack[i] = events->stack[length - 1 - i];
		events->stack[length - 1 - i] = frame;
	}
	events->keep = events->depth;
}

/* The end of a node's activation: what lies above it ends, too. */
static void end_node(struct swz_events *events)
{
	size_t i = events->depth, least;

	least = i > MOST_TORN ? i - MOST_TORN : 0;
	while (i > least && events->stack[i - 1].node.unit != events->raw.unit)
		i--;
	if (i == least) {
		events->damage.stray++;
		return;
	}
	events->damage.torn += events->depth - i;
	events->keep = i - 1;
	events->ending = events->raw.kind;
	events->ending_cut = false;
}

static void take_raw(struct swz_events *events)
{
	const struct node *node;

	events->now = events->raw.ticks;
	if (is_begin(events->raw.kind)) {
		node = find_node(events, events->raw.unit);
		if (node)
			push(events, node, events->raw.kind, false);
		else
			events->damage.foreign++;
	} else if (events->depth &&
		   events->stack[events->depth - 1].node.unit ==
			   events->raw.unit) {
		events->keep = events->depth - 1;
		events->ending = events->raw.kind;
		events->ending_cut = false;
	} else {
		end_node(events);
	}
}

static void end_all(struct swz_events *events)
{
	events->finished = true;
	events->keep = 0;
	events->ending = SWZ_EVENT_SUSPEND;
	events->ending_cut = true;
	if (events->ticks < events->extent.to)
		events->ticks = events->extent.to;
	events->now = events->to < events->ticks ? events->to : events->ticks;
}

/* ---- what is handed out ---- */

static void describe(const struct swz_events *events, const struct frame *frame,
		     struct swz_event *event)
{
	*event = (struct swz_event){
		.node = frame->node.unit,
		.function = frame->node.function,
		.call_site = frame->node.call_site,
		.depth = (uint32_t)events->visible,
		.ticks = events->now,
	};
}

/* Something that the stack still owes: what is in it and has not begun; what
 * is to end. */
static bool hand_out(struct swz_events *events, struct swz_event *event)
{
	struct frame *frame;

	while (events->in_range && events->begun < events->depth &&
	       events->begun < events->keep) {
		frame = &events->stack[events->begun++];
		if (frame->node.hidden && !events->show_hidden)
			continue;
		describe(events, frame, event);
		event->begins = true;
		event->how = frame->how;
		event->cut = frame->cut;
		events->visible++;
		return true;
	}
	while (events->keep < events->depth) {
		bool begun = events->begun == events->depth;

		frame = &events->stack[--events->depth];
		if (!begun)
			continue;
		events->begun--;
		if (frame->node.hidden && !events->show_hidden)
			continue;
		events->visible--;
		describe(events, frame, event);
		/* what was torn off has no end of its own */
		event->how = events->ending;
		event->cut = events->ending_cut || events->depth > events->keep;
		event->stopped = events->ending_cut &&
				 events->now == events->extent.to &&
				 events->now < events->thread->last_ticks;
		return true;
	}
	return false;
}

/* From now on events are handed out; what is open begins here. */
static void enter_range(struct swz_events *events)
{
	size_t i;

	events->in_range = true;
	events->now = events->from > events->first ? events->from
						   : events->first;
	/* nothing is known of the time before the first event */
	if (events->first >= events->to)
		events->depth = events->keep = 0;
	for (i = 0; i < events->depth; i++)
		events->stack[i].cut = true;
}

static bool next_activation(struct swz_events *events, struct swz_event *event)
{
	for (;;) {
		if (hand_out(events, event))
			return true;
		if (events->finished)
			return false;
		/* a call without a time ends as soon as it has begun */
		if (events->depth &&
		    events->stack[events->depth - 1].how == SWZ_EVENT_JUMP &&
		    !events->stack[events->depth - 1].cut) {
			events->keep = events->depth - 1;
			events->ending = SWZ_EVENT_RETURN;
			events->ending_cut = false;
			continue;
		}
		if (!events->has_raw) {
			events->has_raw = next_raw(events);
			if (!events->has_raw && !events->in_range) {
				/* all that is still open may be in it */
				if (events->extent.to < events->from) {
					events->finished = true;
					return false;
				}
				enter_range(events);
				continue;
			}
			if (!events->has_raw) {
				end_all(events);
				continue;
			}
			if (!events->started) {
				events->started = true;
				events->first = events->raw.ticks;
				push_path(events);
			}
		}
		if (!events->in_range && events->raw.ticks >= events->from) {
			enter_range(events);
			continue;
		}
		if (events->raw.ticks >= events->to &&
		    events->to < events->thread->last_ticks) {
			end_all(events);
			continue;
		}
		events->has_raw = false;
		take_raw(events);
	}
}

/* Begins or ends a time without events. */
static bool turn_gap(struct swz_events *events, struct gap *gap,
		     struct swz_event *event)
{
	bool begins = !events->in;

	if (gap->from == gap->to)
		return false;
	*event = (struct swz_event){
		.begins = begins,
		.cut = true,
		.untraced = true,
		.how = begins ? SWZ_EVENT_RESUME : SWZ_EVENT_SUSPEND,
		.function = SWZ_INDEX_NONE,
		.ticks = begins ? gap->from : gap->to,
	};
	events->in = begins ? gap : NULL;
	if (!begins)
		gap->from = gap->to;
	return true;
}

bool swz_events_next(struct swz_events *events, struct swz_event *event)
{
	return turn_gap(events, &events->before, event) ||
	       next_activation(events, event) ||
	       turn_gap(events, &events->after, event);
}
