#ifndef SWZ_RUNTIME_CALIBRATE_H
#define SWZ_RUNTIME_CALIBRATE_H

#include "runtime/cache/start_record.h"

/* Stores in the profile's header what a hooked call costs: COSTS, which, if
 * they are not known, or of a machine that was faster or slower than it is now
 * (an emulated one, say), are measured, by calls of an empty function of our
 * own through a real trampoline. These leave no trace in the profile. The
 * calling thread must be set up.
 * See docs/internals/calibration.md. */
void swz_calibrate(struct swz_costs *costs);

#endif
