#ifndef SWZ_PROFILE_FORMATS_JSON_VALUES_H
#define SWZ_PROFILE_FORMATS_JSON_VALUES_H

#include "profile/formats/formats.h"

/* ,"values":[...] of profiles that are no traces and have any: of each context
 * of each thread the last arguments and results, and their extremes. Not of
 * comparisons. */
void swz_json_put_values(FILE *stream, const struct swz_section *section);

#endif
