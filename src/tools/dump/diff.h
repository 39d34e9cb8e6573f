#ifndef SWZ_TOOLS_DUMP_DIFF_H
#define SWZ_TOOLS_DUMP_DIFF_H

/* Comparisons. */

#include "tools/dump/input.h"

/* Reads what the input is to be compared with, adds both up and writes. Returns
 * an exit status. */
int swz_dump_diff(struct swz_dump_input *input,
		  const struct swz_dump_options *options);

#endif
