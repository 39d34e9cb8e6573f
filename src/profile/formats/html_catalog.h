#ifndef SWZ_PROFILE_FORMATS_HTML_CATALOG_H
#define SWZ_PROFILE_FORMATS_HTML_CATALOG_H

#include <stdio.h>

#include "profile/formats/html_page.h"
#include "profile/names/catalog.h"

/* Writes the names of modules, functions and places: the strings first, into
 * one block, then what refers to them. */
void swz_html_put_catalog(FILE *stream, const struct swz_catalog *catalog);

#endif
