#ifndef SWZ_CONTROL_ATTACH_RUN_H
#define SWZ_CONTROL_ATTACH_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/run_summary.h"
#include "launch/sampling.h"

/* swizzle-run -p PID: attaches, waits, detaches. */

/* The caller's part between attaching and detaching. PROFILE is the path of the
 * one that the process writes; NULL: it is in another root. */
struct swz_attach_beside {
	void (*begin)(void *context, const char *profile);
	void (*end)(void *context);
	void *context;
};

/* False: what keeps the process from being hooked keeps samples from it, too:
 * it has ended, is stopped or frozen, or a thread of the kernel. */
bool swz_attach_may_sample(int32_t pid);

/* Returns swizzle-run's exit status. RUN is that of the process: its pid, its
 * start. LIBRARY is the path of libswizzle.so, ENVIRONMENT holds the settings.
 * BESIDE may be NULL. */
int swz_attach_run(struct swz_run *run, const struct swz_sampling *options,
		   const char *library, char **environment,
		   const struct swz_attach_beside *beside);

#endif
