#ifndef SWZ_PROFILE_FORMATS_TABLES_ASSEMBLY_H
#define SWZ_PROFILE_FORMATS_TABLES_ASSEMBLY_H

/* -f asm: the instructions of functions with what was sampled in them, the
 * calls that they make, source lines and jumps. */

#include <stdbool.h>
#include <stdio.h>

#include "profile/costs/trace.h"

struct swz_assembly_options {
	bool intel; /* the other syntax */
};

/* Writes those that the view's patterns name, those with the most samples
 * first; without patterns the one that has the most. Where there is none,
 * trace->failure says why. */
void swz_write_assembly(FILE *stream, struct swz_trace *trace);

#endif
