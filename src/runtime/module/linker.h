#ifndef SWZ_RUNTIME_MODULE_LINKER_H
#define SWZ_RUNTIME_MODULE_LINKER_H

/* The dynamic linker's interface for debuggers: the list of modules, and a
 * function that it calls when the list changes. */

#include <link.h>
#include <stdbool.h>

#include "runtime/module/module.h"

/* The head of the linker's list. */
struct r_debug *swz_linker_debug(const struct swz_modules *modules);

/* The linker's own module; NULL: it is none of these. */
const struct swz_module *swz_linker_module(const struct swz_modules *modules);

/* Where its calls of debug->r_brk have their displacements, as ELF virtual
 * addresses. */
#define SWZ_LINKER_MOST_CALLS 16u
struct swz_linker_calls {
	uint32_t count; /* 0: not known */
	uint32_t at[SWZ_LINKER_MOST_CALLS];
};

/* Makes the linker call `stub` in place of the function debug->r_brk, which is
 * left as it is. `calls` are those of this linker, if they are known, and are
 * set to those that are found, if its text is as the file has it. False: its
 * code is not as expected, and unchanged. While only one thread runs. */
bool swz_linker_redirect(const struct swz_modules *modules,
			 const struct r_debug *debug, void (*stub)(void),
			 struct swz_linker_calls *calls) SWZ_MUST_CHECK;

#endif
