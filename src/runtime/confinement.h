#ifndef SWZ_RUNTIME_CONFINEMENT_H
#define SWZ_RUNTIME_CONFINEMENT_H

/* Programs that give up system calls (seccomp): libc's prctl and syscall go
 * through a wrapper that sees it coming. From then on we make none
 * (swz_system_calls_end): what has memory by then is recorded, the rest is
 * counted as lost. */

#include <stdbool.h>

#include "runtime/module.h"

/* To be told of all opened modules first: most have no use for them. */
void swz_confinement_look(struct swz_module *module);

/* Whether the module offers what one of them asks for, in scope or not. */
bool swz_confinement_is_in(struct swz_module *module);

/* Gives those of the module's functions their wrappers. */
void swz_confinement_mark(struct swz_module *module);

/* Whether the wrapper is one of those. */
bool swz_confinement_has(const struct swz_wrapper *wrapper);

#endif
