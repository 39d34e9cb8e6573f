#ifndef SWZ_PROFILE_FORMATS_HTML_DESCRIPTION_H
#define SWZ_PROFILE_FORMATS_HTML_DESCRIPTION_H

#include "profile/formats/html_page.h"

/* Writes the block "description" of a page. ADVICE ends with NULL, or is NULL;
 * FLOW_DOUBTS: what was not certain of its flows, or NULL. */
void swz_html_put_description(struct swz_html_page *page,
			      const char *const *advice,
			      const char *flow_doubts);

#endif
