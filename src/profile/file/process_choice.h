#ifndef SWZ_PROFILE_FILE_PROCESS_CHOICE_H
#define SWZ_PROFILE_FILE_PROCESS_CHOICE_H

/* Some of the processes that profiles are of. */

#include <stdbool.h>

#include "profile/file/reader.h"

/* Whether ITEM is the process's number, or matches (as fnmatch(3) has it) the
 * name that it was started with or that of its executable: the last part of the
 * path, or all of it where ITEM has a slash. */
bool swz_process_is_named(const struct swz_profile *profile, const char *item);

#endif
