#ifndef SWZ_RUNTIME_HOOKS_HOOKS_H
#define SWZ_RUNTIME_HOOKS_HOOKS_H

/* The C side of the hooks in asm/x86_64: all but the usual case. It runs on the
 * program's stack and is async-signal-safe; what needs more room, or must not
 * be interrupted, goes to the thread's slow stack with signals blocked.
 * See docs/internals/hooks.md. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* The entry hook (registers saved by the caller): the function whose relocated
 * prologue is `body` was entered and *slot is its return address. Returns the
 * code of the thunk to go through, or NULL: go to the body as things are. */
const uint8_t *swz_enter(const uint8_t *body, uint64_t *slot);

/* The same, with the thunk itself. */
struct swz_thunk *swz_enter_frame(const uint8_t *body, uint64_t *slot);

/* The exit hook: a frame of the thunk's has returned from this slot. Returns 0,
 * or where to go on instead of the address there, with the slot popped. */
uint64_t swz_exit(struct swz_thunk *thunk, uint64_t *slot);

/* The calling thread's state, or NULL if it has none. The first such call in a
 * forked child gives it a profile of its own. */
struct swz_thread *swz_current_thread(void);

/* The program is about to give up system calls: stocks up for the calling
 * thread, and makes none any more but those that its filters let pass. */
void swz_hooks_go_quiet(void);

/* Ends recording, and all use of the clock: of the calling thread at once, of
 * others at their next new edge. */
void swz_hooks_stop(void);

#endif
