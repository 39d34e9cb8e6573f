#ifndef SWZ_PROFILE_FORMATS_HTML_EVENTS_H
#define SWZ_PROFILE_FORMATS_HTML_EVENTS_H

/* The events of a trace, as the page has them. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/formats/formats.h"

/* What was written of a thread. */
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

#endif
