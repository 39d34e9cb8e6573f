#ifndef SWZ_TOOLS_DUMP_TIMES_H
#define SWZ_TOOLS_DUMP_TIMES_H

/* Counts of a run whose calls were recorded, and times of one that was sampled:
 * see profile/costs/joined.h. */

#include "tools/dump/input.h"

/* Reads both and writes them in the options' format. Returns an exit status. */
int swz_dump_times(const struct swz_dump_options *options);

/* The same of what was read: INPUT, and the samples that it has. */
int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options);

#endif
