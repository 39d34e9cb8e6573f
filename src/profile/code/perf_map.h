#ifndef SWZ_PROFILE_CODE_PERF_MAP_H
#define SWZ_PROFILE_CODE_PERF_MAP_H

/* Perf maps: lines of "START SIZE NAME", both numbers hexadecimal. */

#include "profile/code/code_ranges.h"

/* Adds what the text's whole lines say, and returns how many bytes these have.
 * TIME_NS: when the code may have come to lie there. Lines that say nothing of
 * the kind are passed over; a name ends at its first NUL. */
size_t swz_perf_map_read(struct swz_code_ranges *ranges, const char *text,
			 size_t size, uint64_t time_ns);

#endif
