#ifndef SWZ_WATCH_HOOKED_WAITS_H
#define SWZ_WATCH_HOOKED_WAITS_H

/* Where the threads of hooked processes wait. */

#include <stdint.h>

#include "base/run_summary.h"

/* Looks at all threads of the run once, without a stop, and notes in their
 * profiles where they wait. Returns in how many ns to do so again; it costs
 * less than 0.5 % of a processor then. The first call blocks no signals and
 * catches SIGBUS. */
uint64_t swz_hooked_waits_look(const struct swz_run *run);

#endif
