#ifndef SWZ_WATCH_WAITING_H
#define SWZ_WATCH_WAITING_H

/* --wall: samples of threads that wait, without a stop. */

#include "watch/engine.h"

/* Takes one of each thread that waits. Returns when to do it again
 * (CLOCK_MONOTONIC). */
uint64_t swz_waiting_sample(struct swz_watch *watch);

#endif
