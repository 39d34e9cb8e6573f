#ifndef SWZ_LAUNCH_LIBRARY_H
#define SWZ_LAUNCH_LIBRARY_H

/* What is installed with swizzle-run: libswizzle.so, swizzle-dump. */

#include <stdbool.h>

/* Its path; `argument` is what swizzle-run was called by. Dies if it is not
 * there, or cannot be named in LD_PRELOAD. */
const char *swz_library_find(const char *argument);

/* The path of swizzle-dump, in the same folder. */
char *swz_dump_find(const char *argument);

/* Makes the dynamic linker load it, before what it is to load already. Returns
 * whether it was among that. */
bool swz_library_preload(const char *library);

#endif
