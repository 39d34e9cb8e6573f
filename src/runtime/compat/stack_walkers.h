#ifndef SWZ_RUNTIME_COMPAT_STACK_WALKERS_H
#define SWZ_RUNTIME_COMPAT_STACK_WALKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

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
