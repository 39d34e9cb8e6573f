#include "ctl/starting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process_start.h"
#include "profile/support/memory.h"

/* What has no profile by then gets none. */
#define YOUNG_SECONDS 10.0

static bool is_young(int32_t pid)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (double)now.tv_sec - (double)swz_process_start(pid) /
					    (double)sysconf(_SC_CLK_TCK) <
	       YOUNG_SECONDS;
}

static bool is_swizzle_run(int32_t pid)
{
	char link[32], path[4096];
	const char *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	return slash && strcmp(slash + 1, "swizzle-run") == 0;
}

/* Whether one of the strings in a file of the process's is so. */
static bool has(int32_t pid, const char *name,
		bool (*is_so)(const char *string, const char *wanted),
		const char *wanted)
{
	char path[32], *string = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	while (file && !found && getdelim(&string, &room, 0, file) > 0)
		found = is_so(string, wanted);
	free(string);
	if (file)
		fclose(file);
	return found;
}

static bool begins_with(const char *string, const char *wanted)
{
	return strncmp(string, wanted, strlen(wanted)) == 0;
}

static bool is_path_of(const char *string, const char *wanted)
{
	const char *slash = strrchr(string, '/');

	return strcmp(slash ? slash + 1 : string, wanted) == 0;
}

bool swz_is_starting(int32_t pid)
{
	return is_young(pid) &&
	       (is_swizzle_run(pid) ||
		has(pid, "environ", begins_with, "SWIZZLE_OUTPUT="));
}

bool swz_is_starting_as(int32_t pid, const char *name)
{
	return is_young(pid) && is_swizzle_run(pid) &&
	       has(pid, "cmdline", is_path_of, name);
}
