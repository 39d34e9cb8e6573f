#ifndef SWZ_CONTROL_RUN_H
#define SWZ_CONTROL_RUN_H

/* swizzle-run -p PID: attaches, waits, detaches. */

#include "base/run_summary.h"
#include "launch/sampling.h"

/* Returns swizzle-run's exit status. RUN is that of the process: its pid, its
 * start. LIBRARY is the path of libswizzle.so, ENVIRONMENT holds the settings.
 */
int swz_attach_run(struct swz_run *run, const struct swz_sampling *options,
		   const char *library, char **environment);

#endif
