#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_DATA_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_DATA_H

/* Data that has the symbol of a function. */

#include "runtime/discovery/function.h"

/* Whether the function, which has no unwind entry, begins with a few
 * instructions that lead nowhere else in it, and is data behind them. */
bool swz_function_is_data(const struct swz_module *module,
			  const struct swz_function *function);

#endif
