#ifndef SWZ_PROFILE_FORMATS_HTML_LAST_H
#define SWZ_PROFILE_FORMATS_HTML_LAST_H

#include <stdio.h>

#include "profile/formats/formats.h"

/* Writes the block "last NUMBER" of a section whose profile is no trace: the
 * last arguments and results of its contexts, which are by unit, and their
 * extremes (docs/html.md). Nothing where there are none. */
void swz_html_put_last(FILE *stream, size_t number,
		       const struct swz_section *section);

#endif
