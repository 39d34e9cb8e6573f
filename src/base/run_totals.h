#ifndef SWZ_BASE_RUN_TOTALS_H
#define SWZ_BASE_RUN_TOTALS_H

/* What the profiles of a run hold in all, as far as the line that ends it says.
 * Makes system calls only; opens one descriptor at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"

#define SWZ_RUN_PATH_BYTES 4352u
#define SWZ_RUN_BLOCK_BYTES 65536u

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

struct swz_run_totals {
	uint64_t calls, lost, folded, untraced;
	uint32_t files, threads, full, running, others;
	uint32_t flags;   /* of all of them */
	int32_t pids[64]; /* of processes that run: one may have several files
			   */
	bool told, overwritten, marks;
	bool sampled;  /* a sampler has files of the same processes */
	bool contexts; /* of functions: a forked child may have spent its time
			* in such, without a call */
	/* of the root process */
	uint64_t start_ticks, last_ticks;
	struct swz_clock_sample clock[3];
	char first[256]; /* its first file's name */
	char other[256]; /* that of another process */
};

struct swz_run_files {
	const struct swz_run *run;
	const char *name; /* the pattern's last part */
	struct swz_run_totals totals;
	struct swz_file_header header;
	char path[SWZ_RUN_PATH_BYTES];
	uint64_t entries[SWZ_RUN_BLOCK_BYTES / 8];
	uint64_t block[SWZ_RUN_BLOCK_BYTES / 8];
};

/* Adds the profiles in the folder of `output`; all but `run` is 0 before.
 * False: there is none, or the folder cannot be read. */
bool swz_run_add_folder(struct swz_run_files *w);

/* Removes profiles without a call, and adds the others. The root's times stay
 * known though its profile may go. */
void swz_run_leave_used(struct swz_run_files *w);

#endif
