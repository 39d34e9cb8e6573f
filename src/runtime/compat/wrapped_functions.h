#ifndef SWZ_RUNTIME_COMPAT_WRAPPED_FUNCTIONS_H
#define SWZ_RUNTIME_COMPAT_WRAPPED_FUNCTIONS_H

#include <stdbool.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* Wrapper (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's _exit, to
 * which _Exit, quick_exit and exit come, too: a process that ends without its
 * destructors says what was recorded before its parent knows of the end. */
void swz_wrap_end(void);

/* Programs that give up system calls (seccomp), which we need, too: libc's
 * prctl and syscall go through a wrapper that sees it coming. From then on we
 * make those only that the program's filters let pass (swz_system_calls_end):
 * what has memory is recorded, the rest is counted as lost. */

/* asm/x86_64/wrappers.S: calls swz_confine with the first four arguments and
 * the data, then goes to the real function. */
void swz_wrap_confine(void);

/* Wrappers (thunks/trampoline.h; asm/x86_64/wrappers.S) of libc's execve, which
 * nearly all of exec(3), posix_spawn, system and popen come to, of fexecve and
 * of execveat: a program that could not have us preloaded gets an environment
 * without us. */
void swz_wrap_execute(void);
void swz_wrap_execute_descriptor(void);
void swz_wrap_execute_at(void);

/* The functions of libc that go through wrappers where a program asks for one
 * of them: those by which it gives up system calls, or access to its files
 * (wrapped_functions.h), limits
 * its address space (limits.h), locks its memory (limits.h) or
 * executes another program (wrapped_functions.h). Where there are wrappers,
 * _exit has one, too (wrapped_functions.h). See docs/internals/compat.md. */

/* To be told of all opened modules first: most have no use for them. */
void swz_wrapped_look(const struct swz_module *module);

/* The parts of that: whether the module asks for one of them; that one does;
 * whether any did. */
bool swz_wrapped_asks(const struct swz_module *module);
void swz_wrapped_expect(void);
bool swz_wrapped_is_expected(void);

/* True if the module is libc (it has prctl and syscall), or has dlsym, in
 * scope or not; and whether any asks, too. */
bool swz_wrapped_is_offered(const struct swz_module *module);

/* Gives those of the module's functions their wrappers. */
void swz_wrapped_mark(struct swz_module *module);

/* True if the wrapper is one of those. */
bool swz_wrapped_has(const struct swz_wrapper *wrapper);

/* For the plan cache: what a wrapper is (false: not one of those), and one that
 * is the same (NULL: there is none). */
bool swz_wrapped_save(const struct swz_wrapper *wrapper,
		      struct swz_saved_wrapper *saved);
const struct swz_wrapper *swz_wrapped_restore(
	const struct swz_saved_wrapper *saved);

#endif
