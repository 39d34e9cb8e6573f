#ifndef SWZ_PROFILE_FORMATS_CALLS_RINGS_H
#define SWZ_PROFILE_FORMATS_CALLS_RINGS_H

/* -f rings: a picture (SVG) of the functions of a trace and who calls whom.
 * Around each function is a ring of its calls. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profile/costs/trace.h"

enum swz_rings_clock {
	SWZ_RINGS_TIME, /* clockwise is time */
	SWZ_RINGS_CALLS /* each call is one tick, of all threads in turn */
};

/* A call's colour goes by one of these. */
enum swz_rings_paths {
	SWZ_RINGS_CALLEES,  /* the set of functions that it has called */
	SWZ_RINGS_ARGUMENTS /* the class of its arguments' values */
};

struct swz_rings_options {
	size_t rows; /* functions that are shown; 0: all */
	enum swz_rings_clock clock;
	enum swz_rings_paths paths;
};

/* Where graphviz is missing or fails, trace->failure says so. */
void swz_write_rings(FILE *stream, struct swz_trace *trace);

#endif
