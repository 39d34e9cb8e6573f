#ifndef SWZ_RUNTIME_PLAN_INNER_SITES_H
#define SWZ_RUNTIME_PLAN_INNER_SITES_H

/* The list of what changes in functions behind their patch sites. */

#include <stdbool.h>

#include "runtime/module/module.h"

/* Makes room, in scratch memory, for all that the functions may come to have.
 * Without it, none is added. */
void swz_inner_sites_begin(struct swz_module *module);

/* Adds one at its place. False: there is no room. */
bool swz_inner_sites_add(struct swz_module *module, struct swz_inner_site site);

#endif
