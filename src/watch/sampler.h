#ifndef SWZ_WATCH_SAMPLER_H
#define SWZ_WATCH_SAMPLER_H

/* The process that samples the program, or one that runs already. It is no
 * child of the program and in a session of its own; no signal is sent to
 * anybody. */

#include <stdint.h>

#include "base/run_summary.h"
#include "launch/sampling.h"

/* Starts it for the caller's process, which is about to execute the program,
 * and returns NULL when it is ready; else why it cannot be had, which the
 * caller frees. ARGV is written over, in the sampler. */
char *swz_sampler_start(const struct swz_run *run,
			const struct swz_sampling *options, char **argv);

/* Samples process options->pid until it ends, the time is over, or the caller
 * gets SIGINT, SIGTERM or SIGHUP. Returns the exit status. */
int swz_sampler_attach(const struct swz_run *run,
		       const struct swz_sampling *options);

/* --- where threads of hooked processes wait ------------------------------- */

/* Where the threads of hooked processes wait. */

/* Looks at all threads of the run once, without a stop, and notes in their
 * profiles where they wait. Returns in how many ns to do so again; it costs
 * less than 0.5 % of a processor then. The first call blocks no signals and
 * catches SIGBUS. */
uint64_t swz_hooked_waits_look(const struct swz_run *run);

#endif
