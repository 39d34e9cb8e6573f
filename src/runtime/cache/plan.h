#ifndef SWZ_RUNTIME_CACHE_PLAN_H
#define SWZ_RUNTIME_CACHE_PLAN_H

/* A module's plan becomes what is saved of it, and the other way round. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* What is to be kept of the plan, in the module's memory and in scratch; false
 * if that is of no use to another process, or there is no memory. */
bool swz_cache_collect_plan(const struct swz_module *module,
			    struct swz_saved_plan *saved);

/* Makes the plan of module->saved, see swz_cache_use; false: part of it may be
 * there. */
bool swz_cache_restore(struct swz_module *module, const struct swz_hooks *hooks,
		       uint32_t ids);

#endif
