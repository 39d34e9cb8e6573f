#ifndef SWZ_RUNTIME_CACHE_PLAN_CACHE_H
#define SWZ_RUNTIME_CACHE_PLAN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

/* The plan cache: what planning one module came to, kept for other processes
 * that have the same module mapped (docs/cache.md). One thread at a time. */

/* To be called when the modules of the start are known; our own is among them.
 */
void swz_cache_begin(const struct swz_module *modules, unsigned count);

/* Looks for the module's plan, once the module is open and its scope and
 * `late` are known; sets module->saved, or leaves it NULL. */
void swz_cache_find(struct swz_module *module);

/* Makes of module->saved what planning the module would: functions, their
 * trampolines (leading to the hook; ids from module->first_id, of which there
 * are `ids` left), resolver. False: there is none, or it cannot be used here,
 * and module->saved is NULL. */
bool swz_cache_use(struct swz_module *module, const struct swz_hooks *hooks,
		   uint32_t ids);

/* Keeps the plan, which nothing has been patched by yet. */
void swz_cache_store(const struct swz_module *module);

/* Planning for now is over: keeps the cache's size within its bounds. */
void swz_cache_end(void);

/* One line on stderr (-v). */
void swz_cache_report(void);

#endif
