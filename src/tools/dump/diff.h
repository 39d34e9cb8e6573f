#ifndef SWZ_TOOLS_DUMP_DIFF_H
#define SWZ_TOOLS_DUMP_DIFF_H

/* Comparisons. */

#include "tools/dump/options.h"

/* Reads both sides, adds them up and writes. Returns an exit status. */
int swz_dump_diff(const struct swz_dump_options *options);

#endif
