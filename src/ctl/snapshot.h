#ifndef SWZ_CTL_SNAPSHOT_H
#define SWZ_CTL_SNAPSHOT_H

/* A copy of a profile that is being written, as a profile of its own. */

#include <stdbool.h>

#include "ctl/live_profile.h"

/* Writes that of a process to PATH, where it appears complete or not at all.
 * False: ->problem. */
bool swz_snapshot_write(struct swz_live_profile *profile, int32_t pid,
			const char *path);

#endif
