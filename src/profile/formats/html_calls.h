#ifndef SWZ_PROFILE_FORMATS_HTML_CALLS_H
#define SWZ_PROFILE_FORMATS_HTML_CALLS_H

/* What the page has of a trace's calls besides their events: arguments and
 * results, and the bands of the timeline. */

#include <stdint.h>
#include <stdio.h>

#include "profile/formats/formats.h"
#include "profile/formats/html_bands.h"

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
