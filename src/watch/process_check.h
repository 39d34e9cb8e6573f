#ifndef SWZ_WATCH_PROCESS_CHECK_H
#define SWZ_WATCH_PROCESS_CHECK_H

/* Whether a process that runs already can be sampled (-p PID). */

#include <stdbool.h>
#include <stdint.h>

/* NULL: the process is there, and its owner is the user or the user is root.
 * Otherwise why it cannot be sampled by the program of the name TOOL; to be
 * freed. */
char *swz_process_refused(int32_t pid, const char *tool);

/* NULL: its program is one of x86-64, or cannot be read. Otherwise why it
 * cannot be sampled: stacks of 32 bits are not walked; to be freed. */
char *swz_process_program_refused(int32_t pid);

/* Whether it is there and has not ended. A zombie has ended, unless only its
 * first thread has. */
bool swz_process_runs(int32_t pid);

#endif
