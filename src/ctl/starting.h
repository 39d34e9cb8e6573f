#ifndef SWZ_CTL_STARTING_H
#define SWZ_CTL_STARTING_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a process without a profile has been started by swizzle-run a moment
 * ago, so that it may have one soon: it is swizzle-run still, or has its
 * environment. */
bool swz_is_starting(int32_t pid);

/* Whether it is swizzle-run still, and its command line has a program of that
 * name. */
bool swz_is_starting_as(int32_t pid, const char *name);

#endif
