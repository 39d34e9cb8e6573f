#ifndef SWZ_LAUNCH_LIBRARY_H
#define SWZ_LAUNCH_LIBRARY_H

/* libswizzle.so: beside swizzle-run, wherever both are installed. */

#include <stdbool.h>

/* Its path; `argument` is what swizzle-run was called by. Dies if it is not
 * there, or cannot be named in LD_PRELOAD. */
const char *swz_library_find(const char *argument);

/* Makes the dynamic linker load it, before what it is to load already. Returns
 * whether it was among that. */
bool swz_library_preload(const char *library);

#endif
