#ifndef SWZ_RUNTIME_HOOKS_CODE_CALLERS_H
#define SWZ_RUNTIME_HOOKS_CODE_CALLERS_H

/* Callers that are code made at run time. Its functions are not hooked, but
 * they are contexts: nodes of the function SWZ_FUNCTION_CODE, without calls. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* The key of the context that a call comes from which is made while that of KEY
 * is current and which no edge is known for: KEY itself, or beneath it that of
 * the code made at run time from which *slot and the frames above it say that
 * it comes. FRAME is the caller's %rbp. Async-signal-safe. */
uint64_t swz_code_caller(struct swz_thread *thread, uint64_t key,
			 const uint64_t *slot, const uint64_t *frame);

#endif
