/* What lies at a path, symbolic links followed. False where nothing does. */

#ifndef SWZ_LAUNCH_PATH_H
#define SWZ_LAUNCH_PATH_H

#include <stdbool.h>

bool swz_path_exists(const char *path);
bool swz_path_is_directory(const char *path);
bool swz_path_is_regular(const char *path);

/* The path without what follows its last slash, to be freed. NULL: it has none
 * (or is NULL), or there is no memory. */
char *swz_path_directory(const char *path);

#endif
