#ifndef SWZ_BASE_EVENT_HISTORY_H
#define SWZ_BASE_EVENT_HISTORY_H

/* The event that is expected next in a packed stream (SWZ_CHUNK_PACKED in
 * swizzle/format.h) is the one that came last time after the same ones. Writer
 * and reader keep it alike. It is found as in LZ77 (Ziv, Lempel 1977), by what
 * followed an earlier occurrence, for as long as that goes on. Pure. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "swizzle/format.h"

#define SWZ_NO_EVENT_WORD (~UINT64_C(0))

/* Places in `words` are modulo SWZ_PACKED_HISTORY. */
struct swz_event_history {
	uint32_t next;     /* place where the next one goes */
	uint32_t expected; /* place of the one that is expected */
	uint16_t follows[SWZ_PACKED_HASHES]; /* by hash: place behind that */
	uint64_t words[SWZ_PACKED_HISTORY];
};

static inline uint32_t swz_history_place(uint32_t place)
{
	return place & (SWZ_PACKED_HISTORY - 1);
}

/* At the start of each chunk. Of `words` the rest is written before it is read.
 */
static inline void swz_history_begin(struct swz_event_history *h)
{
	h->next = h->expected = 0;
	memset(h->follows, 0, sizeof(h->follows));
	h->words[0] = SWZ_NO_EVENT_WORD;
	for (uint32_t i = 1; i < SWZ_PACKED_HASHED; i++)
		h->words[SWZ_PACKED_HISTORY - i] = 0;
}

/* The word that is expected next; SWZ_NO_EVENT_WORD: none. */
static inline uint64_t swz_history_expected(const struct swz_event_history *h)
{
	return h->words[h->expected];
}

/* The word that came last; 0: there was none. */
static inline uint64_t swz_history_last(const struct swz_event_history *h)
{
	return h->words[swz_history_place(h->next - 1)];
}

/* That of the format, with the products added up: none waits for another. */
static inline uint64_t swz_history_hash(const struct swz_event_history *h)
{
	uint64_t hash = 0, factor = SWZ_PACKED_FACTOR;

#pragma GCC unroll 4
	for (uint32_t i = 1; i <= SWZ_PACKED_HASHED; i++) {
		hash += h->words[swz_history_place(h->next - i)] * factor;
		factor *= SWZ_PACKED_FACTOR;
	}
	return hash >> SWZ_PACKED_SHIFT;
}

/* Remembers what follows the words up to now; and if `look`, expects what has
 * followed them before. */
static inline void swz_history_learn(struct swz_event_history *h, bool look)
{
	uint16_t *follows = &h->follows[swz_history_hash(h)];

	if (look)
		h->expected = *follows;
	*follows = (uint16_t)h->next;
}

/* `count` words have been put at `next` and behind, each as it was expected,
 * and none of them but maybe the last at a multiple of SWZ_PACKED_INTERVAL. */
static inline void swz_history_advance(struct swz_event_history *h,
				       uint32_t count)
{
	h->next = swz_history_place(h->next + count);
	h->expected = swz_history_place(h->expected + count);
	if (h->next % SWZ_PACKED_INTERVAL == 0)
		swz_history_learn(h, false);
}

static inline void swz_history_put(struct swz_event_history *h, uint64_t word)
{
	bool as_expected = word == swz_history_expected(h);

	h->words[h->next] = word;
	if (as_expected) {
		swz_history_advance(h, 1);
	} else {
		h->next = swz_history_place(h->next + 1);
		swz_history_learn(h, true);
	}
}

#endif
