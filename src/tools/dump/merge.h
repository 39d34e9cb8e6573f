#ifndef SWZ_TOOLS_DUMP_MERGE_H
#define SWZ_TOOLS_DUMP_MERGE_H

/* --merge-into FILE: adds profiles to a sum of profiles. */

#include "tools/dump/options.h"

/* Returns the exit status. */
int swz_dump_merge_into(const struct swz_dump_options *options);

#endif
