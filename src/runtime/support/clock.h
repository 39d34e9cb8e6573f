#ifndef SWZ_RUNTIME_SUPPORT_CLOCK_H
#define SWZ_RUNTIME_SUPPORT_CLOCK_H

/* The kernel's clocks. A start reads them a dozen times: until it ends that is
 * done in the vdso, without a system call. Later the program may have filters
 * that we know, or have unmapped what was there: then it is a system call. */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Looks for the vdso in the auxiliary vector, which lies behind the
 * environment on the stack of a program that begins. One thread. */
void swz_clock_begin_start(char **envp);
void swz_clock_end_start(void);

/* False: the kernel refuses, or is not to be asked any more. Async-signal-safe.
 */
bool swz_clock_read(clockid_t clock, struct timespec *now);

/* CLOCK_MONOTONIC in ns; 0: it cannot be read. */
uint64_t swz_clock_monotonic_ns(void);

#endif
