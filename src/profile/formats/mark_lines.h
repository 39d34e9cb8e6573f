#ifndef SWZ_PROFILE_FORMATS_MARK_LINES_H
#define SWZ_PROFILE_FORMATS_MARK_LINES_H

/* Marks as lines of text. */

#include <stdio.h>

#include "profile/formats/formats.h"

/* A line for each mark of the section, in the order of time of each profile:
 * seconds since the profile's beginning, thread, text; before it PREFIX. No
 * more than MOST of them, then how many there are beside; 0: all. Nothing if
 * there are none. */
void swz_put_marks(FILE *stream, const struct swz_section *section,
		   const char *prefix, size_t most);

/* The same of a profile, all. */
void swz_put_marks_of(FILE *stream, const struct swz_profile *profile);

#endif
