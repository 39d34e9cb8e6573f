#ifndef SWZ_RUNTIME_LATE_H
#define SWZ_RUNTIME_LATE_H

#include "runtime/module/linker.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"

/* Libraries that are loaded, and unloaded, while the program runs.
 * See docs/internals/late-libraries.md. */

/* From now on the dynamic linker tells us of what it loads and unloads. Before
 * the program's own code runs; the plan's modules are those of the start, and
 * `calls` as swz_linker_redirect wants them. Where that cannot be had,
 * libraries that come later are left alone, and this is said. */
void swz_late_begin(const struct swz_modules *modules,
		    struct swz_linker_calls *calls);

/* In a process that ran already, after that, when all its threads are stopped:
 * which modules are there now. Those that are not of the plan are left alone.
 * False: one of the threads is about to change the list. */
bool swz_late_commit(const struct swz_modules *modules);

/* The process ends: the profile gets what will not be found later. */
void swz_late_end(void);

#endif
