#ifndef SWZ_RUNTIME_COMPAT_ADDRESS_SPACE_H
#define SWZ_RUNTIME_COMPAT_ADDRESS_SPACE_H

/* Wrappers (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's setrlimit and
 * getrlimit: what is ours does not count against RLIMIT_AS and RLIMIT_DATA. */
void swz_wrap_limit_set(void);
void swz_wrap_limit_get(void);

#endif
