#ifndef SWZ_TOOLS_DUMP_REPORTS_H
#define SWZ_TOOLS_DUMP_REPORTS_H

/* Formats that show sums: of all threads, or of each. */

#include "tools/dump/input.h"

/* Finds names, adds up and writes. Returns an exit status. */
int swz_dump_reports(struct swz_dump_input *input,
		     const struct swz_dump_options *options);

#endif
