#ifndef SWZ_PROFILE_FORMATS_HTML_VALUES_H
#define SWZ_PROFILE_FORMATS_HTML_VALUES_H

/* Arguments and results of a trace's calls, as the page has them: in blocks of
 * their own, of which it reads those that it is asked for (docs/html.md). */

#include <stdint.h>
#include <stdio.h>

#include "profile/file/values.h"
#include "profile/formats/formats.h"

/* Bytes of a page that values may have. */
#define SWZ_HTML_VALUE_BYTES ((uint64_t)64 << 20)

struct swz_html_values;

/* Those of the section's thread, which has this NUMBER in the page. Bytes are
 * taken from *ROOM; when that is used up all that come later are left out. */
struct swz_html_values *swz_html_values_begin(
	FILE *stream, size_t number, uint64_t *room,
	const struct swz_section *section);

/* Of an event with ROW calls around its own. */
void swz_html_values_add(struct swz_html_values *values,
			 const struct swz_event *event, uint64_t row,
			 const struct swz_call_values *of);

/* Writes what is left and the index, and frees VALUES. Returns how many moments
 * were left out. */
uint64_t swz_html_values_end(struct swz_html_values *values);

#endif
