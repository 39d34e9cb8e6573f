#ifndef SWZ_RUNTIME_COMPAT_FOREIGN_H
#define SWZ_RUNTIME_COMPAT_FOREIGN_H

/* Language runtimes that walk their own stack and look return addresses up in
 * tables of theirs. A thunk's address is in no table, so such code must not be
 * hooked, or the runtime must be told how to see through a thunk. They are
 * recognised by symbols and sections that their code generators leave.
 * See docs/internals/checks.md. */

#include "runtime/module/module.h"

/* Sets module->foreign_runtime (the whole module is refused) or marks the range
 * of code that the runtime's own compiler has made; finds module->resolver and
 * module->looks_at_callers. */
void swz_foreign_inspect(struct swz_module *module);

/* For a module that is known to have an unwinder of its own, and is not
 * inspected: sees to it that the unwinder gets along with us. False: it does
 * not, and the module's functions must be refused. */
bool swz_foreign_serve_unwinder(struct swz_module *module);

/* If the module holds a runtime that asks an embedder how return addresses are
 * to be resolved (V8's SetReturnAddressLocationResolver), answers. Before the
 * module's own code runs. */
void swz_foreign_answer(const struct swz_module *module);

#endif
