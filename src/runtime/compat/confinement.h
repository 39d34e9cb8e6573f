#ifndef SWZ_RUNTIME_COMPAT_CONFINEMENT_H
#define SWZ_RUNTIME_COMPAT_CONFINEMENT_H

/* Programs that give up what we need, too. System calls (seccomp): libc's prctl
 * and syscall go through a wrapper that sees it coming. From then on we make
 * none (swz_system_calls_end): what has memory by then is recorded, the rest is
 * counted as lost. Address space: setrlimit and getrlimit go through wrappers
 * that leave out what is ours (address_space.h). */

#include <stdbool.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* To be told of all opened modules first: most have no use for them. */
void swz_confinement_look(const struct swz_module *module);

/* The parts of that: whether the module asks for one of them; that one does;
 * whether any did. */
bool swz_confinement_asks(const struct swz_module *module);
void swz_confinement_expect(void);
bool swz_confinement_is_expected(void);

/* Whether the module has the first two, in scope or not; and whether any asks.
 */
bool swz_confinement_is_offered(const struct swz_module *module);
bool swz_confinement_is_in(const struct swz_module *module);

/* Gives those of the module's functions their wrappers. */
void swz_confinement_mark(struct swz_module *module);

/* Whether the wrapper is one of those. */
bool swz_confinement_has(const struct swz_wrapper *wrapper);

/* For the plan cache: what a wrapper is (false: not one of those), and one that
 * is the same (NULL: there is none). */
bool swz_confinement_save(const struct swz_wrapper *wrapper,
			  struct swz_saved_wrapper *saved);
const struct swz_wrapper *swz_confinement_restore(
	const struct swz_saved_wrapper *saved);

#endif
