#ifndef SWZ_CONTROL_FOR_TOOLS_H
#define SWZ_CONTROL_FOR_TOOLS_H

/* The parts of this folder that a whole tool or option calls. */

#include <stdbool.h>
#include <stdint.h>
#include "base/run_summary.h"
#include "launch/sampling.h"

/* --- swizzle-run -p PID: attaches, waits, detaches -------------------------
 */

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

/* --- swizzle-run --check -------------------------------------------------- */

/* swizzle-run --check: what works on this machine, what does not and why, and
 * the command that would change it, on standard output. LIBRARY: the path of
 * libswizzle.so. Returns the exit status: 0, or 1 if something does not work.
 */
int swz_check_machine(const char *library);

/* --- calls cut short by the sampler --------------------------------------- */

/* From now on calls that a pause of the sampler cuts short go on, by the few
 * instructions that attaching uses, in a gap of the process's code.
 * They are put there when they are first needed, and taken away when the
 * sampler ends, if no thread is in them. A sampler that is killed leaves them:
 * they need nobody. See docs/internals/blocking-calls.md. */
void swz_pause_calls_mend(void);

#endif
