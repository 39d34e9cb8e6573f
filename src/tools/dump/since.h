#ifndef SWZ_TOOLS_DUMP_SINCE_H
#define SWZ_TOOLS_DUMP_SINCE_H

/* --since SNAPSHOT: what a process has done after that. */

#include <stdbool.h>

#include "tools/dump/input.h"
#include "tools/dump/options.h"

/* Leaves of the one profile that was read what came later: of a trace by the
 * range of time. False: that was said. */
bool swz_dump_take_since(struct swz_dump_input *input,
			 struct swz_dump_options *options);

#endif
