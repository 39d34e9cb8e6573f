#include "launch/path.h"

#include <string.h>
#include <sys/stat.h>

bool swz_path_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool swz_path_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool swz_path_is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *swz_path_directory(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}
