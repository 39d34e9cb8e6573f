#ifndef SWZ_TOOLS_DUMP_COMPARE_H
#define SWZ_TOOLS_DUMP_COMPARE_H


#include "tools/dump/dump_options.h"

/* Comparisons. */

/* Reads both sides, adds them up and writes. Returns an exit status. */
int swz_dump_diff(const struct swz_dump_options *options);

#endif
