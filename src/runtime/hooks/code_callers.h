#ifndef SWZ_RUNTIME_HOOKS_CODE_CALLERS_H
#define SWZ_RUNTIME_HOOKS_CODE_CALLERS_H

/* Callers that are code made at run time. Its functions are not hooked, but
 * they are contexts: nodes of the function SWZ_FUNCTION_CODE, without calls. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* The key of the context that a call comes from which is made while that of KEY
 * is current and for which KEY has no edge: KEY itself, or beneath it that of
 * the code made at run time from which *slot and the frames above it say that
 * it comes. 0: there is no such context yet. FRAME is the caller's %rbp.
 * Async-signal-safe, as is what follows. */
uint64_t swz_known_code_caller(struct swz_thread *thread, uint64_t key,
			       const uint64_t *slot, const uint64_t *frame);

/* The same, made if need be and if there is room; else what is nearest above.
 */
uint64_t swz_code_caller(struct swz_thread *thread, uint64_t key,
			 const uint64_t *slot, const uint64_t *frame);

#endif
