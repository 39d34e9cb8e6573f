#ifndef SWZ_PROFILE_FORMATS_HTML_WAITING_H
#define SWZ_PROFILE_FORMATS_HTML_WAITING_H

/* What the page says of waiting. */

#include "profile/formats/formats.h"

/* Writes the block "waiting NUMBER", if waiting is known: of each row of the
 * functions of "thread NUMBER", in their order, what of its self and inclusive
 * time was waiting. And "off NUMBER", if context switches are known: the times
 * in which the section's thread did not run. */
void swz_html_put_waiting(FILE *stream, size_t number,
			  const struct swz_section *section);

#endif
