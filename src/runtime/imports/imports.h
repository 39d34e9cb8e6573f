#ifndef SWZ_RUNTIME_IMPORTS_IMPORTS_H
#define SWZ_RUNTIME_IMPORTS_IMPORTS_H

#include <link.h>

#include "runtime/module/module.h"

/* Calls that modules in scope make through their GOT into modules that are not
 * (--imports). All of it by the one thread that plans.
 * See docs/internals/imports.md. */

/* Decides for the modules of the start, once all are planned; makes the stubs,
 * which nothing leads to yet. */
enum swz_status swz_imports_plan(struct swz_modules *modules) SWZ_MUST_CHECK;

/* Leads the GOT entries to the stubs. */
void swz_imports_apply(void);

/* Describes the imported functions in the profile. */
enum swz_status swz_imports_record(void) SWZ_MUST_CHECK;

/* --list: what was decided for one module; with -v for each import. */
void swz_imports_print(const struct swz_module *module);

/* A module that the linker is loading now and has not relocated, and which is
 * the profile's with that index. */
void swz_imports_arrive(const struct link_map *map,
			const struct swz_module *module, uint32_t index);

/* Does all of the above for the modules that have arrived, together, since they
 * may import from each other. */
void swz_imports_bind(void);

/* The module is gone; it is there again, at the same place, and yet to be
 * relocated; it will never come again, nor anything that it called. */
void swz_imports_leave(uint32_t index);
void swz_imports_return(const struct link_map *map, struct swz_module *module,
			uint32_t index);
void swz_imports_drop(uint32_t index);

/* The plan's memory is about to go; or, in a forked child, the work of another
 * thread that it was planned by. */
void swz_imports_forget(void);

#endif
