#ifndef SWZ_WATCH_NAMES_CODE_NAMES_H
#define SWZ_WATCH_NAMES_CODE_NAMES_H

/* Names of the code that a process makes at run time, from what it writes for
 * profilers: /tmp/perf-PID.map, and jitdump files. Nothing in these files is
 * trusted, and only files that belong to root, to the user or to the process's
 * user are read. */

#include <stdbool.h>
#include <stdint.h>

struct swz_code_names;

/* PROCESS_START: as swz_process_start(). Files that are older were written by
 * somebody else with that number. */
struct swz_code_names *swz_code_names_open(int32_t pid, uint64_t process_start);

/* A forked child's: what its parent's code is called, and what comes. */
struct swz_code_names *swz_code_names_fork(const struct swz_code_names *parent,
					   int32_t pid, uint64_t process_start);

/* The process has mapped a file to be executed. That marks a jitdump file:
 * jit-PID.dump. */
void swz_code_names_mapped(struct swz_code_names *names, const char *path);

/* Reads what has been written since. NOW_NS: CLOCK_MONOTONIC. */
void swz_code_names_refresh(struct swz_code_names *names, uint64_t now_ns);

/* What the code at ADDRESS was called at that time (CLOCK_MONOTONIC); NULL: not
 * known so far. Valid until the next call. */
const char *swz_code_names_find(struct swz_code_names *names, uint64_t address,
				uint64_t time_ns);

/* Grows when there are more names than before. */
uint32_t swz_code_names_count(const struct swz_code_names *names);

/* True if there is a jitdump file. */
bool swz_code_names_have_times(const struct swz_code_names *names);

void swz_code_names_close(struct swz_code_names *names);

#endif
