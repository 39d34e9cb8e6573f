#ifndef SWZ_TOOLS_DUMP_SELECTION_H
#define SWZ_TOOLS_DUMP_SELECTION_H

/* --since SNAPSHOT: what a process has done after that. */

#include <stdbool.h>

#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"

/* --- what came after a snapshot ------------------------------------------ */

/* Leaves of the one profile that was read what came later: of a trace by the
 * range of time. False: that was said. */
bool swz_dump_take_since(struct swz_dump_input *input,
			 struct swz_dump_options *options);

/* --- a part of a trace's time -------------------------------------------- */

/* The part of a trace's time that --from and --to mean. */

/* The range of time that is asked for, in ticks; the start is that of the first
 * process. False: there is no trace of it. */
bool swz_dump_find_range(const struct swz_dump_input *input,
			 struct swz_dump_options *options);

/* --- callers that the profiles say --------------------------------------- */

/* swizzle-run --caller FUNCTION: what the profiles say is to be shown. */

/* Where --caller is not given, takes it from the profiles. */
void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options);

#endif
