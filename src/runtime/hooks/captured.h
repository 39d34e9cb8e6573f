#ifndef SWZ_RUNTIME_HOOKS_CAPTURED_H
#define SWZ_RUNTIME_HOOKS_CAPTURED_H

/* Calls whose arguments and results are recorded (record/signatures.h). Their
 * frames have the mark SWZ_FIRST_FRAME, or where a frame has jumped to them
 * SWZ_RECORD_CAPTURED in their record: so their exits come to C, with the
 * registers as the function has left them. All are async-signal-safe. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* The entry hook: as swz_enter; the arguments are in registers that lie below
 * the slot, and in vector registers (record/values.h). */
const uint8_t *swz_enter_captured(const uint8_t *body, uint64_t *slot);

/* The frame has returned at a biased time; its records are there still. */
void swz_captured_return(struct swz_thread *thread,
			 const struct swz_thunk *thunk, uint64_t now,
			 const uint64_t *slot);

/* An exception has ended the activation of a node, at the thread's latest
 * time. What it points at need not be there. */
void swz_captured_exception(struct swz_thread *thread, uint32_t node,
			    const void *exception);

#endif
