#ifndef SWZ_RUNTIME_COMPAT_LANGUAGE_RUNTIMES_H
#define SWZ_RUNTIME_COMPAT_LANGUAGE_RUNTIMES_H

#include <stdbool.h>

#include "runtime/module/module.h"

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

#endif
