#ifndef SWZ_RUNTIME_DISCOVERY_DEMANGLER_H
#define SWZ_RUNTIME_DISCOVERY_DEMANGLER_H

/* libiberty's demanglers, for patterns, in the profiled process: with memory
 * and a stack that are mapped for the time of planning, and without libc. One
 * thread at a time. */

#include <stdbool.h>

/* False: there is no memory. */
bool swz_demangler_begin(void);
void swz_demangler_end(void);

/* As swz_shown_name; NULL for false. There until it is asked for the next one
 * with the same FULL. */
const char *swz_demangler_name(const char *symbol, unsigned languages,
			       bool full);

#endif
