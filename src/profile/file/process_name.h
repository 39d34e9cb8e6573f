#ifndef SWZ_PROFILE_FILE_PROCESS_NAME_H
#define SWZ_PROFILE_FILE_PROCESS_NAME_H

#include <stddef.h>

#include "profile/file/reader.h"

#define SWZ_PROCESS_NAME_BYTES 80u /* that are enough, with the NUL */

/* What the process is among those of its program, for a lane or a row: the
 * program's name and the `--type=` that it was started with, as of Chromium and
 * what is built upon it; of a utility, for what: "chromium renderer", "chromium
 * utility network". Of Firefox: "firefox-esr tab". Returns `name`. */
const char *swz_process_name(const struct swz_profile *profile, char *name,
			     size_t room);

#endif
