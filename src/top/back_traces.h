#ifndef SWZ_TOP_BACK_TRACES_H
#define SWZ_TOP_BACK_TRACES_H

/* What swizzle-top -b prints in a round. */

#include <stdio.h>

#include "profile/support/style.h"
#include "top/live.h"

struct swz_back_trace_options {
	unsigned int min_percent;  /* of all time: functions */
	unsigned int back_percent; /* of the function's: back traces of it */
};

/* The time, ticks, hits and missed back traces (of exact counts: calls), then
 * functions with their most frequent back traces, innermost function first. */
void swz_back_traces_print(FILE *stream, const struct swz_live *live,
			   const struct swz_back_trace_options *options,
			   const struct swz_style *style);

#endif
