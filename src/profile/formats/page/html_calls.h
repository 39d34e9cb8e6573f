#ifndef SWZ_PROFILE_FORMATS_PAGE_HTML_CALLS_H
#define SWZ_PROFILE_FORMATS_PAGE_HTML_CALLS_H

/* Calls that have a band of their own in the page's timeline: those that print
 * lines, and those that the configuration gives one (docs/html.md). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/file/values.h"
#include "profile/formats/common/section.h"

/* The names of all bands of a page. The first one is that of printed lines. */
struct swz_html_band_names {
	const char **names; /* of the rules */
	size_t count, capacity;
};
void swz_html_band_names_free(struct swz_html_band_names *names);

/* --- values -------------------------------------------------------------- */

/* Arguments and results of a trace's calls, as the page has them: in blocks of
 * their own, of which it reads those that it is asked for (docs/html.md). */

/* Bytes of a page that values may have. */
#define SWZ_HTML_VALUE_BYTES ((uint64_t)64 << 20)

/* --- calls --------------------------------------------------------------- */

/* The page has more of a trace's calls than their events: arguments and
 * results, and the bands of the timeline. */

/* Calls of which the page has less than there is. */
struct swz_html_cut {
	uint64_t values; /* begins and ends, whose values had no room */
	uint64_t banded; /* calls that are missing in bands */
};

/* Writes that of the section's thread, which has this NUMBER in the page, and
 * contexts by unit; nothing where there is none. Bytes of values are taken from
 * *ROOM. */
struct swz_html_cut swz_html_put_calls(FILE *stream, size_t number,
				       uint64_t *room,
				       struct swz_html_band_names *bands,
				       const struct swz_section *section);

#endif
