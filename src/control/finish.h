#ifndef SWZ_CONTROL_FINISH_H
#define SWZ_CONTROL_FINISH_H

#include "control/attached.h"

/* The last part of a detach, when no function leads to a hook any more: stops
 * all threads when none of them is in code of ours, has the library put the
 * real return addresses back and close the profile. False: ->problem. */
bool swz_attach_finish(struct swz_attached *attached);

#endif
