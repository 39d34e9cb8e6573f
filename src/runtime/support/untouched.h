#ifndef SWZ_RUNTIME_SUPPORT_UNTOUCHED_H
#define SWZ_RUNTIME_SUPPORT_UNTOUCHED_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the kernel says that [start, end), part of a private mapping of a
 * file, has not been written to. False: it has, or it is not known. */
bool swz_is_untouched(uint64_t start, uint64_t end);

#endif
