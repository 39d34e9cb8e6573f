#ifndef SWZ_RUNTIME_COMPAT_EXECUTION_H
#define SWZ_RUNTIME_COMPAT_EXECUTION_H

/* Wrapper (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's execve, which
 * all of exec(3), posix_spawn, system and popen come to: a program that could
 * not have us preloaded gets an environment without us. */
void swz_wrap_execute(void);

#endif
