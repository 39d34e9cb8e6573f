#ifndef SWZ_PROFILE_FORMATS_CALLS_TEXT_H
#define SWZ_PROFILE_FORMATS_CALLS_TEXT_H

/* Calls as indented lines. */

#include "profile/formats/calls_walk.h"

struct swz_calls_text {
	struct swz_calls_sink sink;
	bool has_begun; /* the innermost call is to be written yet */
};

/* Writes the heading. */
void swz_calls_text_begin(struct swz_calls_text *text, FILE *stream);

#endif
