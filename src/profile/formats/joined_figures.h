#ifndef SWZ_PROFILE_FORMATS_JOINED_FIGURES_H
#define SWZ_PROFILE_FORMATS_JOINED_FIGURES_H

/* Figures of a report whose times are those of another run (costs/joined.h):
 * what has no call count, and times of which only a bound is known. Of other
 * reports they are plain figures. */

#include "profile/formats/formats.h"

/* Whether the function's calls were counted. */
bool swz_is_counted(const struct swz_report *report, uint32_t function);

/* What a time of the function is less than; 0: NS is the time itself. */
int64_t swz_bound_of(const struct swz_report *report, uint32_t function,
		     int64_t ns);

/* At the right of WIDTH columns: "123", or "-"; "123", or "<123". */
void swz_put_plain_count(FILE *stream, int width, uint64_t count, bool counted);
void swz_put_plain_time(FILE *stream, int width, int64_t ns, int64_t bound_ns);

/* "Counts are of ..., times of ...", without a newline. */
void swz_put_joined_note(FILE *stream, const struct swz_section *section);

#endif
