#ifndef SWZ_LAUNCH_REPORT_H
#define SWZ_LAUNCH_REPORT_H

/* `--report`: the program runs in a child of ours. When it has ended,
 * swizzle-dump shows what was recorded, and we end as the program did. */

#include "base/run_totals.h"

/* If there is to be a report, returns in the child only. GIVEN: the environment
 * for swizzle-dump; a SWIZZLE_REPORT in it concerns us alone. Reads
 * SWIZZLE_REPORT and removes it: the program has no report of its own. */
void swz_report_begin(const char *argv0, char **given);

/* In the child, once it is known where the profiles go. */
void swz_report_tell(const struct swz_run *run);

#endif
