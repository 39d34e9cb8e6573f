#ifndef SWZ_PROFILE_FILE_EVENT_WORDS_H
#define SWZ_PROFILE_FILE_EVENT_WORDS_H

/* The events of a thread as the file has them, one after the other, from pages
 * and from packed streams. Nothing is checked but where they lie. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/file/reader.h"

struct swz_event_word {
	uint32_t unit; /* of the node */
	uint8_t kind;  /* enum swz_event_kind, or 7 */
	uint64_t ticks;
};

struct swz_event_words;

/* Both must outlive it. */
struct swz_event_words *swz_event_words_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);
void swz_event_words_close(struct swz_event_words *words); /* NULL is fine */

/* False: there is no more. */
bool swz_event_words_next(struct swz_event_words *words,
			  struct swz_event_word *word);

/* Bytes of the file that were read. */
uint64_t swz_event_words_position(const struct swz_event_words *words);

/* Pages that could not be read, and streams that end in an event. */
uint64_t swz_event_words_lost(const struct swz_event_words *words);

#endif
