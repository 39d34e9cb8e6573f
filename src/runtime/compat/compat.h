#ifndef SWZ_RUNTIME_COMPAT_COMPAT_H
#define SWZ_RUNTIME_COMPAT_COMPAT_H

/* The code for programs that would notice swizzle: wrapped functions, limits of
 * memory, language runtimes, stack walkers. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

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

/* Some functions of libc go through wrappers where a program asks for one of
 * them: those by which it gives up system calls or access to its files, limits
 * its address space, locks its memory, or executes another program. Where there
 * are wrappers, _exit has one, too. See docs/internals/compat.md. */

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

/* --- limits of memory ----------------------------------------------------- */

/* Wrappers of the functions by which a program limits or locks its memory. */

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

/* --- language runtimes ---------------------------------------------------- */

/* True if a module that is hooked names swizzle_resume_process(), as all code
 * does that includes swizzle.h: then the program may start recording by
 * itself, and needs its hooks for that. The modules are listed. */
bool swz_program_resumes_itself(const struct swz_modules *modules);

/* Language runtimes that walk their own stack and look return addresses up in
 * tables of theirs. A thunk's address is in no table, so such code must not be
 * hooked, or the runtime must be told how to see through a thunk. They are
 * recognised by symbols and sections that their code generators leave.
 * See docs/internals/checks.md. */

/* Sets module->foreign_runtime (the whole module is refused), or refuses or
 * marks the code that the runtime's own compiler has made; finds
 * module->resolver and module->looks_at_callers. The functions must have been
 * collected. */
void swz_foreign_inspect(struct swz_module *module);

/* For a module that is known to have an unwinder of its own, and is not
 * inspected: sees to it that the unwinder gets along with us. False: it does
 * not, and the module's functions must be refused. */
bool swz_foreign_serve_unwinder(struct swz_module *module);

/* If the module holds a runtime that asks an embedder how return addresses are
 * to be resolved (V8's SetReturnAddressLocationResolver), answers. Before the
 * module's own code runs. */
void swz_foreign_answer(const struct swz_module *module);

/* The module's patches are there. */
void swz_sanitizer_patched(const struct swz_module *module);

/* Called by a sanitizer's runtime when it starts: options of its own syntax,
 * static strings. Their names are given by LLVM's sanitizer/asan_interface.h
 * and lsan_interface.h. Those in the environment come after and override. */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);

/* --- stack walkers -------------------------------------------------------- */

/* Functions by which a program walks its stack: _Unwind_Backtrace (and by it
 * libc's backtrace), unw_step, unw_backtrace. They go through wrappers that
 * pass over the frames of thunks and hooks, so that the program sees its own.
 * So do functions that look at their return address (discovery/function.h),
 * which find the real one. They are no part of the profile. */

/* True if an opened module has any that walks, in scope or not. */
bool swz_stack_walkers_are_in(struct swz_module *module);

/* Gives those of the module's functions their wrappers. */
void swz_stack_walkers_mark(struct swz_module *module,
			    struct swz_decoder *decoder);

/* For the plan cache: what a wrapper is (false: not one of those), and one that
 * is the same (NULL: there is none). */
bool swz_stack_walkers_save(const struct swz_module *module,
			    const struct swz_wrapper *wrapper,
			    struct swz_saved_wrapper *saved);
const struct swz_wrapper *swz_stack_walkers_restore(
	const struct swz_module *module, const struct swz_saved_wrapper *saved);

/* Notes that the module [start, end) holds an unwinder that exports nothing;
 * that it does not any more. One thread at a time.
 * See docs/internals/unwinding.md. */
void swz_note_unwinder(uint64_t start, uint64_t end);
void swz_forget_unwinder(uint64_t start);

#endif
