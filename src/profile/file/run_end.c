#include "profile/file/run_end.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "profile/file/run_profiles.h"

/* A process has a file for each program that it has executed. */
struct latest {
	const struct swz_run *run;
	uint64_t start_ticks;
	int fd; /* of it, for writing; -1: it has an end */
};

static void look_at(void *context, const struct swz_run_profile *profile)
{
	const struct swz_file_header *h = profile->header;
	struct latest *latest = context;
	char path[64]; /* the same file, not one that has its name by now */

	if (h->pid != latest->run->root_pid ||
	    h->process_start != latest->run->root_start ||
	    h->flags & (SWZ_FILE_SAMPLES | SWZ_FILE_MERGED) ||
	    h->start_ticks < latest->start_ticks)
		return;
	if (latest->fd >= 0)
		close(latest->fd);
	latest->fd = -1;
	latest->start_ticks = h->start_ticks;
	if (h->flags & SWZ_FILE_ENDED || h->end_ticks)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", profile->fd);
	latest->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

void swz_run_note_end(const struct swz_run *run)
{
	struct latest latest = {.run = run, .fd = -1};

	swz_run_profiles_each(run, look_at, &latest);
	if (latest.fd < 0)
		return;
	(void)!pwrite(latest.fd, &run->end_ticks, sizeof(run->end_ticks),
		      offsetof(struct swz_file_header, end_ticks));
	close(latest.fd);
}
