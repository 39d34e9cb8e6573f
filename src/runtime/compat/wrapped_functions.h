#ifndef SWZ_RUNTIME_COMPAT_WRAPPED_FUNCTIONS_H
#define SWZ_RUNTIME_COMPAT_WRAPPED_FUNCTIONS_H

/* The functions of libc that go through wrappers where a program asks for one
 * of them: those by which it gives up system calls, or access to its files
 * (confinement.h), limits
 * its address space (address_space.h), locks its memory (locked_memory.h) or
 * executes another program (execution.h). Where there are wrappers, _exit has
 * one, too (ending.h).
 * See docs/internals/compat.md. */

#include <stdbool.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* To be told of all opened modules first: most have no use for them. */
void swz_wrapped_look(const struct swz_module *module);

/* The parts of that: whether the module asks for one of them; that one does;
 * whether any did. */
bool swz_wrapped_asks(const struct swz_module *module);
void swz_wrapped_expect(void);
bool swz_wrapped_is_expected(void);

/* Whether the module is libc (it has prctl and syscall), in scope or not; and
 * whether any asks, too. */
bool swz_wrapped_is_offered(const struct swz_module *module);
bool swz_wrapped_is_in(const struct swz_module *module);

/* Gives those of the module's functions their wrappers. */
void swz_wrapped_mark(struct swz_module *module);

/* Whether the wrapper is one of those. */
bool swz_wrapped_has(const struct swz_wrapper *wrapper);

/* For the plan cache: what a wrapper is (false: not one of those), and one that
 * is the same (NULL: there is none). */
bool swz_wrapped_save(const struct swz_wrapper *wrapper,
		      struct swz_saved_wrapper *saved);
const struct swz_wrapper *swz_wrapped_restore(
	const struct swz_saved_wrapper *saved);

#endif
