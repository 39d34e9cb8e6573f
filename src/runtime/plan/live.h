#ifndef SWZ_RUNTIME_PLAN_LIVE_H
#define SWZ_RUNTIME_PLAN_LIVE_H

/* A plan for code that threads may be executing: what of it may be patched, and
 * what is to be written (support/live_sites.h). */

#include "runtime/module/module.h"

/* Refuses functions of which a site spans two pages, or holds a call in its
 * midst: somebody may return there. */
void swz_plan_refuse_unsafe(struct swz_module *module);

/* Lists the module's sites, in memory as they are now. */
void swz_plan_list_sites(struct swz_module *module, unsigned flags);

#endif
