#ifndef SWZ_CONTROL_PATCH_H
#define SWZ_CONTROL_PATCH_H

#include "control/attached.h"

/* Stops all threads when none of them stands where it must not, and writes the
 * sites, or restores them. False: ->problem. */
bool swz_attach_patch(struct swz_attached *attached, bool patch);

#endif
