#include "ctl/periods.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static struct timespec began;
static sigset_t ending;

/* Blocked, and asked for: none is lost between two waits. */
void swz_periods_begin(void)
{
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	clock_gettime(CLOCK_MONOTONIC, &began);
}

static int64_t left_of(uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)ns -
	       ((int64_t)(now.tv_sec - began.tv_sec) * 1000000000 +
		now.tv_nsec - began.tv_nsec);
}

bool swz_periods_wait(uint64_t ns)
{
	for (;;) {
		int64_t left = left_of(ns);
		struct timespec wait = {0, 0};

		if (left > 0) {
			wait.tv_sec = (time_t)(left / 1000000000);
			wait.tv_nsec = (long)(left % 1000000000);
		}
		if (sigtimedwait(&ending, NULL, &wait) > 0)
			return false;
		if (errno == EAGAIN && left <= 0)
			return true;
	}
}
