#ifndef SWZ_CONTROL_NATIVE_H
#define SWZ_CONTROL_NATIVE_H

/* A process that was started with the library: its hooks taken out of its code
 * while recording is stopped, and put back. See docs/control.md.
 *
 * Whoever is killed meanwhile leaves a process that runs right, with some of
 * its functions hooked (SWZ_CODE_CHANGING); the next one makes it whole. */

#include <stdbool.h>
#include <stdint.h>

#include "control/attached.h"

/* Opens it, and waits until no other controller is at work. False: ->problem
 * says why its code cannot be changed. To be closed in any case
 * (swz_attached_close). */
bool swz_native_open(struct swz_attached *attached, int32_t pid);

/* To be called when recording is stopped; before it is started. False:
 * ->problem; some hooks may be there. */
bool swz_native_take_out(struct swz_attached *attached);
bool swz_native_put_back(struct swz_attached *attached);

/* When the profile is detached: restores all code, and takes the library's
 * return addresses off the stacks. */
bool swz_native_detach(struct swz_attached *attached);

#endif
