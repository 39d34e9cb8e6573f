#include "profile/support/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER_MS 1000
#define AGAIN_AFTER_MS 100

static struct {
	bool shown; /* at all */
	const char *doing;
	uint64_t done;
	uint64_t total;
	int64_t next_ms; /* when to draw */
	int width;       /* of what is on the terminal */
} progress;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void swz_progress_allow(bool allowed)
{
	const char *after = getenv("SWIZZLE_PROGRESS_AFTER"); /* for tests */

	/* in the background it would be in the way of what is in front */
	progress.shown = allowed && isatty(STDERR_FILENO) &&
			 tcgetpgrp(STDERR_FILENO) == getpgrp();
	progress.next_ms = now_ms() +
			   (after ? strtol(after, NULL, 10) : FIRST_AFTER_MS);
}

void swz_progress_stage(const char *doing, uint64_t total)
{
	progress.doing = doing;
	progress.done = 0;
	progress.total = total;
	swz_progress_add(0);
}

static void draw(void)
{
	double share = 100.0 * (double)progress.done / (double)progress.total;
	int width = fprintf(stderr, "\rswizzle: %s: %d %%", progress.doing,
			    share < 100 ? (int)share : 100);

	if (width < progress.width)
		fprintf(stderr, "%*s", progress.width - width, "");
	if (width > progress.width)
		progress.width = width;
	fflush(stderr);
}

void swz_progress_add(uint64_t amount)
{
	int64_t now;

	progress.done += amount;
	if (!progress.shown || !progress.total)
		return;
	now = now_ms();
	if (now < progress.next_ms)
		return;
	progress.next_ms = now + AGAIN_AFTER_MS;
	draw();
}

void swz_progress_clear(void)
{
	if (progress.width)
		fprintf(stderr, "\r%*s\r", progress.width, "");
	progress.width = 0;
}

void swz_progress_end(void)
{
	swz_progress_clear();
	progress.total = 0;
}
