#ifndef SWZ_PROFILE_FORMATS_CALLGRIND_HEAD_H
#define SWZ_PROFILE_FORMATS_CALLGRIND_HEAD_H

/* The head of a part in the format of callgrind, and costs as it says which
 * there are. */

#include <stdint.h>
#include <stdio.h>

#include "profile/formats/formats.h"

/* A line's costs. */
struct swz_callgrind_cost {
	int64_t ns;
	int64_t waiting; /* of that */
	uint64_t samples;
};

/* The events of a comparison. */
void swz_callgrind_put_events(FILE *stream, int64_t more, int64_t less,
			      int64_t old, int64_t new);

/* OLD: of a comparison, in ns. */
void swz_callgrind_put_cost(FILE *stream, const struct swz_section *section,
			    struct swz_callgrind_cost new, int64_t old);

/* The sums of all functions' self times and of their differences, behind KEY:
 * "summary" or "totals". */
void swz_callgrind_put_totals(FILE *stream, const struct swz_section *section,
			      const char *key);

/* Up to the first function. */
void swz_callgrind_put_header(FILE *stream, const struct swz_section *section);

#endif
