#ifndef SWZ_PROFILE_FORMATS_PAGE_HTML_SOURCES_H
#define SWZ_PROFILE_FORMATS_PAGE_HTML_SOURCES_H

/* The source of functions in a page (docs/html.md). Which lines are of interest
 * is gathered section by section; the files are read at the end, those first
 * whose functions took most time, until a page has as much text as it may. */

#include <stdbool.h>
#include <stdio.h>

#include "profile/formats/common/section.h"

struct swz_html_sources;

struct swz_html_sources *swz_html_sources_begin(void);

/* The functions of a section, and where they call others. */
void swz_html_sources_add(struct swz_html_sources *sources,
			  const struct swz_section *section);

/* Writes the block "sources", without text where it is not WANTED, and frees
 * SOURCES. CATALOG is that of the sections. */
void swz_html_sources_end(struct swz_html_sources *sources, FILE *stream,
			  const struct swz_catalog *catalog, bool wanted);

#endif
