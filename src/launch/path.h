/* What lies at a path, symbolic links followed. False where nothing does. */

#ifndef SWZ_LAUNCH_PATH_H
#define SWZ_LAUNCH_PATH_H

#include <stdbool.h>

bool swz_path_exists(const char *path);
bool swz_path_is_directory(const char *path);
bool swz_path_is_regular(const char *path);

#endif
