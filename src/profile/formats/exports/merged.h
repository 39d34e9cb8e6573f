#ifndef SWZ_PROFILE_FORMATS_EXPORTS_MERGED_H
#define SWZ_PROFILE_FORMATS_EXPORTS_MERGED_H

/* Writes a sum of profiles as a profile (SWZ_FILE_MERGED). */

#include <stdio.h>

#include "util/memory.h"
#include "profile/costs/merge.h"

/* The caller checks the stream. */
void swz_write_merged(FILE *stream, const struct swz_merge *merge);

/* The chunks of a sum of profiles, for merged.c. */

struct swz_bytes {
	uint8_t *bytes; /* to be freed */
	size_t size, capacity;
};

#endif
