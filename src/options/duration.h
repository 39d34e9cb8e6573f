#ifndef SWZ_OPTIONS_DURATION_H
#define SWZ_OPTIONS_DURATION_H

/* Durations, as all tools take them: "10", "0.5s", "500ms", "2m", "1h". */

#include <stdint.h>

/* What a message gives as examples. */
#define SWZ_DURATION_EXAMPLES "500ms, 10s, 2m"

/* In ns; 0: it is none, or not between 1 ns and a year. */
uint64_t swz_duration(const char *text);

#endif
