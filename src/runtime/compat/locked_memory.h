#ifndef SWZ_RUNTIME_COMPAT_LOCKED_MEMORY_H
#define SWZ_RUNTIME_COMPAT_LOCKED_MEMORY_H

/* Wrapper (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's mlockall: what
 * we have reserved is neither locked nor counted. */
void swz_wrap_lock_all(void);

#endif
