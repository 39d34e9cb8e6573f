#ifndef SWZ_RUNTIME_MODULE_LINKER_H
#define SWZ_RUNTIME_MODULE_LINKER_H

/* The dynamic linker's interface for debuggers: the list of modules, and a
 * function that it calls when the list changes. */

#include <link.h>
#include <stdbool.h>

#include "runtime/module/module.h"

/* Where the list begins. */
struct r_debug *swz_linker_debug(const struct swz_modules *modules);

/* Makes the linker call `stub` in place of the function debug->r_brk, which is
 * left as it is. False: its code is not as expected, and unchanged. While only
 * one thread runs. */
bool swz_linker_redirect(const struct swz_modules *modules,
			 const struct r_debug *debug,
			 void (*stub)(void)) SWZ_MUST_CHECK;

#endif
