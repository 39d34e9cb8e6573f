#ifndef SWZ_RUNTIME_COMPAT_LIMITS_H
#define SWZ_RUNTIME_COMPAT_LIMITS_H

/* Wrappers of the functions by which a program limits or locks its memory. */

#include <stdbool.h>

/* Wrapper (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's mlockall: what
 * we have reserved is neither locked nor counted. */
void swz_wrap_lock_all(void);

/* True if this process, whose profile is mapped, may map as much once more: a
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
