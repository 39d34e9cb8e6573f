#ifndef SWZ_BASE_PROCESS_START_H
#define SWZ_BASE_PROCESS_START_H

#include <stdint.h>

/* When a process began, in clock ticks since the system's start, which with its
 * number tells it from all others; 0: it is not there or has ended, or there is
 * no /proc. PID 0: the caller. Async-signal-safe. */
uint64_t swz_process_start(int32_t pid);

#endif
