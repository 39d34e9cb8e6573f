#ifndef SWZ_RUNTIME_DISCOVERY_LOCATION_H
#define SWZ_RUNTIME_DISCOVERY_LOCATION_H

/* Filtering by source file (-L): from .debug_line of the module's file, or of
 * the separate file of its debug information. */

#include "runtime/module/module.h"
#include "runtime/support/pattern.h"

/* Refuses the module's functions whose source file is not wanted, and, unless
 * the patterns only exclude, those whose source file is not known. */
void swz_location_filter(struct swz_module *module);

/* Which patterns matched a source file. */
extern struct swz_pattern_hits swz_location_hits;

/* Whether the source file of any function so far was known. */
bool swz_location_any_known(void);

#endif
