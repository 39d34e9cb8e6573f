#ifndef SWZ_PROFILE_FORMATS_HTML_DIFF_H
#define SWZ_PROFILE_FORMATS_HTML_DIFF_H

/* What the page has besides of a comparison: the old figures. */

#include "profile/formats/formats.h"
#include "profile/formats/page_block.h"

/* Whether a function has a row: it appears on either side. */
bool swz_html_has_row(const struct swz_section *section, size_t function);

/* The old side of the rows, edges and contexts of a thread, in the order in
 * which their block has them. src/html/diff.js reads it. */
void swz_html_put_old(struct swz_page_block *block,
		      const struct swz_section *section);

#endif
