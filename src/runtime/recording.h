#ifndef SWZ_RUNTIME_RECORDING_H
#define SWZ_RUNTIME_RECORDING_H

#include "runtime/module/module.h"

/* Makes the profile, plans and patches, once the configuration was read. NULL,
 * or what is wrong: the beginning of a sentence that ends in the profile's
 * path. In a process that ran already (swz_config.attached) the modules are
 * listed, nothing is patched, and their list is needed until
 * swz_late_commit(). */
const char *swz_recording_begin(struct swz_modules *modules);

#endif
