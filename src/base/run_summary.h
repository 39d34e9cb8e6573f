#ifndef SWZ_BASE_RUN_SUMMARY_H
#define SWZ_BASE_RUN_SUMMARY_H

/* The line that ends a run: how many calls, in which time, in which files, what
 * is missing, and the next command. The process prints it at its orderly end;
 * after any other end swizzle-run's watcher does. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWZ_SUMMARY_BYTES 2048u

/* SWIZZLE_TREE in the environment holds the numbers, so that all processes of a
 * run know them: "PID START SHOWN". */
struct swz_run {
	const char *output;  /* the files' names: absolute, may hold %p */
	int32_t root_pid;    /* the process that swizzle-run became; 0: none */
	uint64_t root_start; /* as swz_process_start */
	uint64_t end_ticks; /* when that ended, if it is known; 0: take what the
			     * profile says */
	bool only_used;     /* profiles without a call are to be removed, where
			     * others have some (-M) */
	uint32_t shown;     /* where in `output` the user's own name begins */
};

/* Whether nothing was recorded in the profile at PATH. */
bool swz_run_is_unused(const char *path);

/* Reads the profiles of the run in the folder of `output` and writes one line
 * with its newline to TEXT, of SWZ_SUMMARY_BYTES. Returns its length; 0: there
 * is no profile, the line has been printed already, or the files cannot be
 * read. Makes system calls only; opens one descriptor at a time. */
size_t swz_run_summarize(const struct swz_run *run, char *text);

#endif
