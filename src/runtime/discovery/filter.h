#ifndef SWZ_RUNTIME_DISCOVERY_FILTER_H
#define SWZ_RUNTIME_DISCOVERY_FILTER_H

/* What the user wants hooked, as far as it can be decided when the module is
 * planned (-H, -Z, -L refuse functions: they cost nothing then), and the marks
 * of what has to be decided at each entry (-F, -N). */

#include "runtime/discovery/function.h"

void swz_filter_module(struct swz_module *module);

/* -F, -N and -H alone. */
void swz_filter_by_name(struct swz_function *function);

/* Says so if they leave nothing to record: most likely a name is misspelt.
 * After swz_plan_record. */
void swz_filter_tell(const struct swz_modules *modules);

#endif
