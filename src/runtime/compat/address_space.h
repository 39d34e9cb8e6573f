#ifndef SWZ_RUNTIME_COMPAT_ADDRESS_SPACE_H
#define SWZ_RUNTIME_COMPAT_ADDRESS_SPACE_H

#include <stdbool.h>

/* Whether this process, whose profile is mapped, may map as much once more: a
 * program that has been given less would be refused memory that it has without
 * us. Its own setrlimit comes later (below). */
bool swz_limits_leave_room(void);

/* Wrappers (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's setrlimit,
 * getrlimit and prlimit: what is ours does not count against RLIMIT_AS and
 * RLIMIT_DATA. */
void swz_wrap_limit_set(void);
void swz_wrap_limit_get(void);
void swz_wrap_limit_change(void);

#endif
