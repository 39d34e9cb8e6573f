#ifndef SWZ_PROFILE_FILE_TICKS_H
#define SWZ_PROFILE_FILE_TICKS_H

/* The clock of a profile. */

#include "profile/file/reader.h"

/* Beyond this a time in ticks is nonsense (292 years at 1 GHz), and sums of a
 * few such times still fit. */
#define SWZ_MAX_TICKS (INT64_MAX / 4)

/* Sets clock_ns, clock_ticks, clock_known and clock_uneven by the header's
 * samples. */
void swz_profile_calibrate(struct swz_profile *profile);

#endif
