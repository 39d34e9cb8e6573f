#ifndef SWZ_PROFILE_FORMATS_MERGED_H
#define SWZ_PROFILE_FORMATS_MERGED_H

/* Writes a sum of profiles as a profile (SWZ_FILE_MERGED). */

#include <stdio.h>

#include "profile/costs/merge.h"

/* The caller checks the stream. */
void swz_write_merged(FILE *stream, const struct swz_merge *merge);

#endif
