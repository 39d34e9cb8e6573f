#ifndef SWZ_PROFILE_FORMATS_HTML_SETTINGS_H
#define SWZ_PROFILE_FORMATS_HTML_SETTINGS_H

#include "profile/formats/formats.h"

/* Writes the block "settings": of each function that the configuration gives a
 * prefix or a colour its number since the one before, both texts ("": none).
 * Nothing where there is none. VIEW may be NULL. */
void swz_html_put_settings(FILE *stream, const struct swz_view *view,
			   const struct swz_catalog *catalog);

#endif
