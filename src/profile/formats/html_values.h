#ifndef SWZ_PROFILE_FORMATS_HTML_VALUES_H
#define SWZ_PROFILE_FORMATS_HTML_VALUES_H

/* Arguments and results of a trace's calls, as the page has them: in blocks of
 * their own, of which it reads those that it is asked for (docs/html.md). */

#include <stdint.h>
#include <stdio.h>

#include "profile/formats/formats.h"

/* Bytes of a page that values may have. */
#define SWZ_HTML_VALUE_BYTES ((uint64_t)64 << 20)

/* Writes those of the section's thread, which has this NUMBER in the page and
 * contexts by unit; nothing where none were recorded. Bytes are taken from
 * *ROOM; when that is used up all that come later are left out. Returns how
 * many moments of calls that is. */
uint64_t swz_html_put_values(FILE *stream, size_t number, uint64_t *room,
			     const struct swz_section *section);

#endif
