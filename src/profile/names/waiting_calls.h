#ifndef SWZ_PROFILE_NAMES_WAITING_CALLS_H
#define SWZ_PROFILE_NAMES_WAITING_CALLS_H

#include <stdbool.h>

/* Whether a function of libc with that symbol may wait: for time, a file, a
 * peer, a lock, a thread or a process. Nearly all of what such a call takes is
 * taken to be waiting; what of it the processor has run is not known. */
bool swz_call_waits(const char *symbol);

#endif
