#ifndef SWZ_TOOLS_DUMP_RANGE_H
#define SWZ_TOOLS_DUMP_RANGE_H

/* The part of a trace's time that --from and --to mean. */

#include <stdbool.h>

#include "tools/dump/input.h"

/* The range of time that is asked for, in ticks; the start is that of the first
 * process. False: there is no trace of it. */
bool swz_dump_find_range(const struct swz_dump_input *input,
			 struct swz_dump_options *options);

#endif
