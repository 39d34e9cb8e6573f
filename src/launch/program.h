#ifndef SWZ_LAUNCH_PROGRAM_H
#define SWZ_LAUNCH_PROGRAM_H

/* The program that swizzle-run is to start: where it is, and whether the
 * dynamic linker will load our library into it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/run_summary.h"

/* True if the path leads to a file of that kind, symbolic links followed. */

bool swz_path_is_directory(const char *path);
bool swz_path_is_regular(const char *path);

/* The path without what follows its last slash, to be freed. NULL: it has none
 * (or is NULL), or there is no memory. */
char *swz_path_directory(const char *path);

/* Exit statuses of swizzle-run. */
enum { SWZ_CANNOT_RUN = 126, SWZ_NOT_FOUND = 127 };

/* Says "swizzle: " and the message, and exits. */
__attribute__((noreturn, format(printf, 2, 3))) void swz_die(int status,
							     const char *format,
							     ...);

/* Printed into memory of its own, which nobody frees: swizzle-run is about to
 * become another program. */
__attribute__((format(printf, 1, 2))) char *swz_text(const char *format, ...);

/* The path of the program as execvp(3) finds it; dies where there is none.
 * `whose` is what messages call it. */
char *swz_program_find(const char *name, const char *whose);

/* Dies if the library cannot be loaded into what executing the file leads to,
 * through #! lines as the kernel follows them. A file that cannot be read is
 * taken to be right. SAMPLED: one that can only be sampled is right, too, which
 * is linked in any way. Returns the ELF file that is executed in the end, as
 * far as that can be told; else NULL. */
const char *swz_program_check(const char *file, const char *whose,
			      bool sampled);

/* Why the file that was checked last can only be sampled: "statically linked".
 * NULL: it can be hooked. */
const char *swz_program_not_hooked(void);

/* Executes it as execvp(3) does, which takes a text for a script of /bin/sh;
 * dies where it cannot. */
__attribute__((noreturn)) void swz_program_execute(char *path, char **argv);

/* The environment that the program gets. */

/* Its value; empty where it is not set. */
const char *swz_environment_get(const char *variable);

/* Dies where there is no memory. */
void swz_environment_set(const char *variable, const char *value);

/* --- libswizzle.so ------------------------------------------------------- */

/* The files installed with swizzle-run (libswizzle.so, swizzle-dump), and what
 * they are told in the environment. */

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
 * information for libswizzle.so (base/signature_exchange.h), and says in the
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
