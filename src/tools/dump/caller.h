#ifndef SWZ_TOOLS_DUMP_CALLER_H
#define SWZ_TOOLS_DUMP_CALLER_H

/* swizzle-run --caller FUNCTION: what the profiles say is to be shown. */

#include "tools/dump/input.h"
#include "tools/dump/options.h"

/* Where --caller is not given, takes it from the profiles. */
void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options);

#endif
