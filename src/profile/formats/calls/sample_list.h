#ifndef SWZ_PROFILE_FORMATS_CALLS_SAMPLE_LIST_H
#define SWZ_PROFILE_FORMATS_CALLS_SAMPLE_LIST_H

#include <stdio.h>

#include "profile/costs/trace.h"

/* Lists samples one by one. */
void swz_write_samples(FILE *stream, struct swz_trace *trace);

#endif
