#ifndef SWZ_LAUNCH_RUN_REPORT_H
#define SWZ_LAUNCH_RUN_REPORT_H

/* `--report`: the program runs in a child of ours. When it has ended,
 * swizzle-dump shows what was recorded, and we end as the program did. */

#include <stdbool.h>
#include <stdint.h>

#include "base/run_summary.h"

/* If there is to be a report, returns in the child only. GIVEN: the environment
 * for swizzle-dump; a SWIZZLE_REPORT in it concerns us alone. Reads
 * SWIZZLE_REPORT and removes it: the program has no report of its own. */
void swz_report_begin(const char *argv0, char **given);

/* In the child, once it is known where the profiles go. */
void swz_report_tell(const struct swz_run *run);

/* A process that looks where the threads of a run wait, and prints the line
 * that ends a run where the program could not: it was killed, or executed what
 * is not profiled. Then it sees to the profiles. The watcher is no child of the
 * program, is in a session of its own, and has one descriptor besides standard
 * error. */

struct swz_watching {
	bool tells; /* it prints the line */
	/* Called until the program ends; returns in how many ns again. */
	uint64_t (*look)(const struct swz_run *run);
	/* Called last, with the least priority; NULL: nothing is to be done. */
	void (*afterwards)(const struct swz_run *run);
};

/* Starts it for the caller's process, which is about to execute the program, if
 * it can be had without the program noticing. Where standard error is a pipe or
 * a socket the watcher prints nothing: who reads there would wait for it.
 * Changes *RUN and the words of ARGV, in the watcher only. */
void swz_watcher_start(struct swz_run *run, char **argv,
		       const struct swz_watching *watching);

#endif
