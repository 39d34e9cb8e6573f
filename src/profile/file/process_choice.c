#include "profile/file/process_choice.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool matches(const char *item, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && !strchr(item, '/'))
		path = slash + 1;
	return *path && fnmatch(item, path, 0) == 0;
}

bool swz_process_is_named(const struct swz_profile *profile, const char *item)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRId32, profile->header.pid);
	return strcmp(item, pid) == 0 || matches(item, profile->executable) ||
	       (profile->argument_count &&
		matches(item, profile->arguments[0]));
}
