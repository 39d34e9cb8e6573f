#ifndef SWZ_PROFILE_FILE_PACKING_H
#define SWZ_PROFILE_FILE_PACKING_H

/* What swizzle-run's watcher does after the program's end: profiles with many
 * contexts are made smaller, of killed processes, too. */

#include "base/run_summary.h"

/* Replaces large profiles of the run, once nobody writes them, by shorter ones
 * that say the same. Waits some seconds for processes that are about to end.
 * What cannot be done, for want of room for instance, is left as it is. */
void swz_packing_run(const struct swz_run *run);

#endif
