#ifndef SWZ_BASE_RUN_SUMMARY_H
#define SWZ_BASE_RUN_SUMMARY_H

/* The line that ends a run: how many calls, in which time, in which files, what
 * is missing, and the next command. The process prints it at its orderly end;
 * after any other end swizzle-run's watcher does. */

#include <stddef.h>

#include "base/run_totals.h"

#define SWZ_SUMMARY_BYTES 2048u

/* Reads the profiles of the run in the folder of `output` and writes one line
 * with its newline to TEXT, of SWZ_SUMMARY_BYTES. Returns its length; 0: there
 * is no profile, the line has been printed already, or the files cannot be
 * read. Makes system calls only; opens one descriptor at a time. */
size_t swz_run_summarize(const struct swz_run *run, char *text);

#endif
