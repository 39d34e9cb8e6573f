#ifndef SWZ_PROFILE_FORMATS_INFO_MODULES_H
#define SWZ_PROFILE_FORMATS_INFO_MODULES_H

/* What swizzle-dump -f info says of modules. */

#include <stdio.h>

#include "profile/formats/formats.h"

/* How many functions each has, how many of them were patched, and why the
 * others were not; which were not in scope; which were loaded later. */
void swz_info_put_modules(FILE *stream, const struct swz_profile *profile);

/* The same of imported functions, by the modules that they are in. Nothing
 * where there are none. */
void swz_info_put_imports(FILE *stream, const struct swz_profile *profile);

#endif
