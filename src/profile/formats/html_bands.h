#ifndef SWZ_PROFILE_FORMATS_HTML_BANDS_H
#define SWZ_PROFILE_FORMATS_HTML_BANDS_H

/* Calls that have a band of their own in the page's timeline: those that print
 * lines, and those that the configuration gives one (docs/html.md). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/file/values.h"
#include "profile/formats/formats.h"

/* The names of all bands of a page. The first one is that of printed lines. */
struct swz_html_band_names {
	const char **names; /* of the rules */
	size_t count, capacity;
};
void swz_html_band_names_free(struct swz_html_band_names *names);

/* Whether the configuration gives any function a band. */
bool swz_html_bands_wanted(const struct swz_section *section);

struct swz_html_bands;

/* Of the section's thread, which has contexts by unit. */
struct swz_html_bands *swz_html_bands_begin(const struct swz_section *section,
					    struct swz_html_band_names *names);

/* A call of CONTEXT begins, with ROW others around it; VALUES: NULL where none
 * were recorded. Then one ends: the innermost that has begun. */
void swz_html_bands_enter(struct swz_html_bands *bands, uint64_t ticks,
			  uint32_t context, uint64_t row,
			  const struct swz_call_values *values);
void swz_html_bands_leave(struct swz_html_bands *bands, uint64_t ticks);

/* Writes the block "bands NUMBER" to STREAM, if there are any, and frees BANDS.
 * Returns how many calls are left out: no more than MOST_IN_BANDS are kept. */
#define SWZ_HTML_MOST_IN_BANDS 100000u
uint64_t swz_html_bands_end(struct swz_html_bands *bands, FILE *stream,
			    size_t number);

#endif
