#ifndef SWZ_RUNTIME_RECORDING_H
#define SWZ_RUNTIME_RECORDING_H

/* The beginning of a profile, at a program's start or in a process that runs.
 */

#include <stdbool.h>

#include "base/control.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"

/* Tells a controller what it has to know of the library (base/control.h),
 * whichever way it came into the process. */

/* Says where threads have their states, and how they are paused from outside.
 */
void swz_control_describe(void);

/* Begins the tables of sites and of code. False: there is no memory. */
bool swz_control_begin_tables(void);

/* In a process that ran already: what the controller calls (base/control.h).
 * See docs/attach.md. */

/* On a borrowed thread, which is nowhere near the dynamic linker or malloc.
 * Lists the modules, holds them, and starts a thread of our own that plans. 0,
 * or a negated error. */
long swizzle_attach(const struct swz_attach_request *request);

/* On any thread: starts one of our own, which waits until all others are
 * stopped, takes our return addresses off their stacks and closes the profile.
 */
long swz_attach_finish(void);

/* Makes the profile, plans and patches, once the configuration was read. NULL,
 * or what is wrong: the beginning of a sentence that ends in the profile's
 * path. In a process that ran already (swz_config.attached) the modules are
 * listed, nothing is patched, and their list is needed until
 * swz_late_commit(). */
const char *swz_recording_begin(struct swz_modules *modules);

/* --- libraries that come and go ------------------------------------------- */

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
