#include "runtime/support/progress.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/support/config.h"

#define AGAIN_AFTER_NS 100000000u
#define NAME_BYTES 40

static struct {
	bool shown; /* at all */
	uint64_t total;
	uint64_t before; /* of the modules that are done */
	uint64_t bytes;  /* of this one */
	const char *name;
	uint64_t next_ns; /* when to draw */
	unsigned width;   /* of what is on the terminal */
} progress;

/* In the background the line would be in the way of what is in front, and may
 * stop the process (stty tostop). */
static bool is_in_front(void)
{
	int32_t group = 0;

	return SWZ_SYSCALL(SYS_ioctl, 2, TIOCGPGRP, &group) == 0 &&
	       group == SWZ_SYSCALL(SYS_getpgid, 0);
}

void swz_progress_begin(uint64_t bytes)
{
	memset(&progress, 0, sizeof(progress));
	progress.shown = bytes && !swz_config.quiet && !swz_config.attached &&
			 is_in_front();
	progress.total = bytes;
	if (progress.shown)
		progress.next_ns = swz_sys_monotonic_ns() +
				   swz_config.progress_after_ms * 1000000;
}

static void put(char *line, unsigned *length, const char *text, unsigned most)
{
	while (*text && most--) {
		line[(*length)++] = (char)(*text < ' ' ? '?' : *text);
		text++;
	}
}

static void draw(unsigned percent)
{
	char line[128] = "\r";
	char digits[] = {(char)('0' + percent / 10), (char)('0' + percent % 10),
			 '\0'};
	unsigned length = 1;

	put(line, &length, "swizzle: planning: ", 20);
	put(line, &length, digits + (percent < 10), 2);
	put(line, &length, " % (", 4);
	put(line, &length, progress.name, NAME_BYTES);
	put(line, &length, ")", 1);
	if (length > progress.width)
		progress.width = length;
	while (length < progress.width)
		line[length++] = ' ';
	SWZ_SYSCALL(SYS_write, 2, line, length);
}

void swz_progress_percent(unsigned percent)
{
	uint64_t now;

	if (!progress.shown || !progress.bytes)
		return;
	now = swz_sys_monotonic_ns();
	if (now < progress.next_ns)
		return;
	progress.next_ns = now + AGAIN_AFTER_NS;
	percent = (unsigned)((progress.before * 100 +
			      progress.bytes * percent) /
			     progress.total);
	draw(percent < 99 ? percent : 99);
}

void swz_progress_module(const char *path, uint64_t bytes)
{
	const char *slash = strrchr(path, '/');

	progress.before += progress.bytes;
	progress.bytes = bytes;
	if (!bytes)
		return;
	progress.name = slash ? slash + 1 : path;
	swz_progress_percent(0);
}

void swz_progress_end(void)
{
	char line[128];
	unsigned length = progress.width;

	if (length) {
		memset(line, ' ', length + 1);
		line[0] = line[length] = '\r';
		SWZ_SYSCALL(SYS_write, 2, line, length + 1);
	}
	progress.shown = false;
	progress.width = 0;
}
