#ifndef SWZ_WATCH_CLOCK_H
#define SWZ_WATCH_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in ns, by which all times are. */
uint64_t swz_watch_now(void);

/* Sleeps, less than a second. */
void swz_watch_rest(uint64_t ns);

#endif
