#ifndef SWZ_RUNTIME_COMPAT_EXECUTION_H
#define SWZ_RUNTIME_COMPAT_EXECUTION_H

/* Wrappers (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's execve, which
 * nearly all of exec(3), posix_spawn, system and popen come to, of fexecve and
 * of execveat: a program that could not have us preloaded gets an environment
 * without us. */
void swz_wrap_execute(void);
void swz_wrap_execute_descriptor(void);
void swz_wrap_execute_at(void);

#endif
