#include "watch/clock.h"

#include <time.h>

uint64_t swz_watch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void swz_watch_rest(uint64_t ns)
{
	struct timespec time = {0, (long)ns};

	nanosleep(&time, NULL);
}
