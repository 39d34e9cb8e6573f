#ifndef SWZ_PROFILE_FORMATS_PAGE_HTML_EVENTS_H
#define SWZ_PROFILE_FORMATS_PAGE_HTML_EVENTS_H

/* The events of a trace, and samples, as the page has them (docs/html.md). */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/formats/common/section.h"

struct swz_html_index;
struct swz_html_levels;

/* --- levels: a trace from afar ------------------------------------------- */

/* A trace from afar: its activations with those merged that are narrower than a
 * pixel, for some sizes of pixels. A page draws these where the events
 * themselves would be too many (docs/html.md). */

/* Flags of an activation. */
enum swz_html_flag {
	SWZ_HTML_NO_CALL = 1, /* it counts no call */
	SWZ_HTML_UNWOUND = 2,
	SWZ_HTML_CUT = 4, /* it is longer than what is known of it */
	/* (8: a level has several in one) */
	SWZ_HTML_ERROR = 16 /* its result is an error */
};

struct swz_html_activation {
	uint64_t start, end; /* ticks */
	uint32_t context;
	unsigned int flags;
	uint64_t calls; /* made in it, directly or not */
};

/* For a thread that was there from START to END. */
struct swz_html_levels *swz_html_levels_begin(uint64_t start, uint64_t end);

/* An activation with ROW others around it. Those of a row come in the order of
 * time. */
void swz_html_levels_add(struct swz_html_levels *levels, uint64_t row,
			 const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees LEVELS. */
void swz_html_levels_end(struct swz_html_levels *levels, FILE *stream,
			 const char *name, uint64_t origin);

/* --- the index of blocks ------------------------------------------------- */

/* An index makes each block of a trace's events readable by itself: it says
 * when it begins, and which activations are open then, whole, with their ends
 * (docs/html.md). */

struct swz_html_index *swz_html_index_begin(void);

/* A block begins at TICKS, with so many ACTIVATIONS behind it. Of those that
 * were open at the block before the outermost KEPT still are. */
void swz_html_index_block(struct swz_html_index *index, uint64_t ticks,
			  uint64_t activations, uint64_t kept);

/* One more is open there than those; its number, to end it by. */
uint32_t swz_html_index_open(struct swz_html_index *index);

/* That has ended. */
void swz_html_index_close(struct swz_html_index *index, uint32_t number,
			  const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees INDEX. ACTIVATIONS is how many there are. */
void swz_html_index_end(struct swz_html_index *index, FILE *stream,
			const char *name, uint64_t origin,
			uint64_t activations);

/* --- events -------------------------------------------------------------- */

/* The amounts that were written of a thread. */
struct swz_html_events {
	uint64_t events;
	uint64_t activations;
	uint64_t deepest;        /* activations that were open at once */
	uint64_t untraced;       /* events that the trace had no room for */
	uint64_t short_calls;    /* that it has left out */
	uint64_t untraced_calls; /* of which there are no events */
	int64_t untraced_ns;     /* the time of which there are none */
	int64_t untraced_own_ns; /* of this, work of ours */
};

/* Bytes of a page that events may have. */
#define SWZ_HTML_EVENT_BYTES ((uint64_t)256 << 20)

/* Writes blocks "events NUMBER 0", "events NUMBER 1", ... with the events of
 * the section's thread, whose contexts are by unit; and if there are more than
 * a few of them "levels NUMBER" and "index NUMBER". Bytes of events are taken
 * from *ROOM; when that is used up the other blocks of events are left out. */
void swz_html_put_events(FILE *stream, size_t number, uint64_t *room,
			 const struct swz_section *section,
			 struct swz_html_events *written);

/* Writes the block "failed NUMBER", if any call failed: of contexts how many
 * calls were ended by an exception, and how many returned an error, of which
 * ERRORS has the number by context; NULL: that is not known. */
void swz_html_put_failed(FILE *stream, size_t number,
			 const struct swz_contexts *contexts,
			 const uint64_t *errors);

/* --- samples -------------------------------------------------------------- */

/* Writes the block "samples NUMBER": when each sample with a time was taken of
 * the section's thread, whose contexts are by unit, and what it stands for. */
void swz_html_put_samples(FILE *stream, size_t number,
			  const struct swz_section *section);

#endif
