#ifndef SWZ_BASE_RUN_SUMMARY_H
#define SWZ_BASE_RUN_SUMMARY_H

/* The contents of a run's profiles in all, as far as the line that ends it
 * says. Makes system calls only; opens one descriptor at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"

/* --- totals of a run ----------------------------------------------------- */

#define SWZ_RUN_PATH_BYTES 4352u

/* SWIZZLE_TREE in the environment holds the numbers, so that all processes of a
 * run know them: "PID START SHOWN DEVICE INODE", and 1 behind them where the
 * run is sampled, too. */
struct swz_run {
	const char *output;  /* the files' names: absolute, may hold %p */
	int32_t root_pid;    /* the process that swizzle-run became; 0: none */
	uint64_t root_start; /* as swz_process_start */
	uint64_t from_ticks; /* files that began earlier are of an earlier
			      * attach to that process; mostly 0 */
	uint64_t end_ticks; /* when that ended, if it is known; 0: take what the
			     * profile says */
	bool only_used;     /* profiles without a call are to be removed, where
			     * others have some (-M) */
	uint32_t shown;     /* where in `output` the user's own name begins */
	/* The file that was standard error when swizzle-run began. A program
	 * that is executed later may have another one in its place. */
	uint64_t messages_device, messages_inode; /* 0, 0: it was closed */
	bool sampled; /* -m both; only the library has it */
};

/* True if the profile is of the run. */
static inline bool swz_run_has(const struct swz_run *run,
			       const struct swz_file_header *h)
{
	return h->root_pid == run->root_pid &&
	       h->root_start == run->root_start &&
	       h->start_ticks >= run->from_ticks;
}

/* True if a profile of the run is that of its first process. (Without /proc it
 * does not know when it began.) */
static inline bool swz_run_is_root(const struct swz_run *run,
				   const struct swz_file_header *h)
{
	return h->pid == run->root_pid &&
	       (h->process_start == run->root_start || !h->process_start);
}

/* True if nothing was recorded in the profile at PATH. */
bool swz_run_is_unused(const char *path);

/* --- the summary --------------------------------------------------------- */

/* The line that ends a run: how many calls, in which time, in which files, what
 * is missing, and the next command. The process prints it at its orderly end;
 * after any other end swizzle-run's watcher does. */

#define SWZ_SUMMARY_BYTES 2048u

/* Reads the profiles of the run in the folder of `output` and writes one line
 * with its newline to TEXT, of SWZ_SUMMARY_BYTES. Returns its length; 0: there
 * is no profile, the line has been printed already, or the files cannot be
 * read. Makes system calls only; opens one descriptor at a time. */
size_t swz_run_summarize(const struct swz_run *run, char *text);

#endif
