#ifndef SWZ_LAUNCH_LIBRARY_H
#define SWZ_LAUNCH_LIBRARY_H

/* The files installed with swizzle-run (libswizzle.so, swizzle-dump), and what
 * they are told in the environment. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/run_summary.h"

/* Its path; `argument` is what swizzle-run was called by. Dies if it is not
 * there, or cannot be named in LD_PRELOAD. */
const char *swz_library_find(const char *argument);

/* The path of swizzle-dump, in the same folder. */
char *swz_dump_find(const char *argument);

/* Makes the dynamic linker load it, before what it is to load already. Returns
 * whether it was among that. */
bool swz_library_preload(const char *library);

/* --off: where swizzle-ctl will not be permitted to trace the program, its
 * functions must be hooked from the start, and the library is told so
 * (SWIZZLE_OFF=hooked). To be called by what the program will be. */
void swz_off_prepare(void);

/* --config: what of the configuration file is for recording. */

/* Reads the file of --config, or those that there are, and adds what they leave
 * out to the environment's patterns. Dies where a file is wrong. */
void swz_configuration_apply(void);

/* --args: starts swizzle-dump beside the process ROOT, which reads debug
 * information for libswizzle.so (swizzle/signature_exchange.h), and says in the
 * environment where. Where it would become a child of the program, there are
 * the functions of the program at PATH alone. Nothing without --args. Dies
 * where that does not go. ARGV0 is our own name. */
void swz_signatures_prepare(const char *path, const char *argv0, pid_t root);

/* --- the report after a run ----------------------------------------------- */

/* `--report` and `--live`: the program runs in a child of ours. Another one,
 * swizzle-dump, shows its calls while it runs (--live), or when it has ended
 * what was recorded. Then we end as the program did. */

/* If there is to be either, returns in the program's child only. GIVEN: the
 * environment for swizzle-dump; a SWIZZLE_REPORT in it concerns us alone. Reads
 * SWIZZLE_REPORT and SWIZZLE_LIVE and removes them: the program has no report
 * of its own. */
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
