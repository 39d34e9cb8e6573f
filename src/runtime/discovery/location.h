#ifndef SWZ_RUNTIME_DISCOVERY_LOCATION_H
#define SWZ_RUNTIME_DISCOVERY_LOCATION_H

/* Filtering by source file (-L): from .debug_line of the module's file, or of
 * the separate file of its debug information. */

#include "runtime/module/module.h"

/* Refuses the module's functions whose source file is not wanted, and, unless
 * the patterns only exclude, those whose source file is not known. */
void swz_location_filter(struct swz_module *module);

/* Whether the source file of any function so far was known. */
bool swz_location_any_known(void);

#endif
