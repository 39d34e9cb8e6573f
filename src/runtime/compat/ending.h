#ifndef SWZ_RUNTIME_COMPAT_ENDING_H
#define SWZ_RUNTIME_COMPAT_ENDING_H

/* Wrapper (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's _exit, to
 * which _Exit, quick_exit and exit come, too: a process that ends without its
 * destructors says what was recorded before its parent knows of the end. */
void swz_wrap_end(void);

#endif
