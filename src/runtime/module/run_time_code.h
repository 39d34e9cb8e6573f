#ifndef SWZ_RUNTIME_MODULE_RUN_TIME_CODE_H
#define SWZ_RUNTIME_MODULE_RUN_TIME_CODE_H

/* What an address of code is in: code that was made at run time lies in no
 * file. */

#include <stdint.h>

#include "runtime/module/module.h"

enum swz_code_kind {
	SWZ_CODE_OF_FILE,
	SWZ_CODE_OF_RUN_TIME,
	/* of a file, but made by the compiler that makes code at run time, and
	 * called from there: V8's builtins */
	SWZ_CODE_BUILT_IN
};

/* Notes what of the modules of the start need not be asked for: the dynamic
 * linker, which all namespaces share, and built-in code. */
void swz_run_time_code_begin(const struct swz_modules *modules);

/* Something has come to lie at addresses that had other code before. */
void swz_run_time_code_forget(void);

/* Where it cannot be told: SWZ_CODE_OF_FILE. Async-signal-safe; takes no lock.
 */
enum swz_code_kind swz_code_kind_of(uint64_t address);

#endif
