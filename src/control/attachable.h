#ifndef SWZ_CONTROL_ATTACHABLE_H
#define SWZ_CONTROL_ATTACHABLE_H

#include <stdint.h>

/* NULL: the exact profiler may be brought into the process, as far as that can
 * be told from outside. Otherwise why not, and what to do; to be freed. */
char *swz_attach_refused(int32_t pid);

#endif
