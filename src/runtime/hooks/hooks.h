#ifndef SWZ_RUNTIME_HOOKS_HOOKS_H
#define SWZ_RUNTIME_HOOKS_HOOKS_H

/* The C side of the hooks in asm/x86_64: all but the usual case. It runs on the
 * program's stack and is async-signal-safe; what needs more room, or must not
 * be interrupted, goes to the thread's slow stack with signals blocked.
 * See docs/internals/hooks.md. */

#include <stdint.h>

#include "runtime/record/thread.h"
#include "thunks/trampoline.h"

/* The entry hook (registers saved by the caller): the function whose relocated
 * prologue is `body` was entered and *slot is its return address. Returns the
 * code of the thunk to go through, or NULL: go to the body as things are. */
const uint8_t *swz_enter(const uint8_t *body, uint64_t *slot);

/* The entry hook: as swz_enter; the arguments are in registers that lie below
 * the slot, and in vector registers (record/values.h). */
const uint8_t *swz_enter_captured(const uint8_t *body, uint64_t *slot);

/* The exit hook: a frame of the thunk's has returned from this slot. Returns 0,
 * or where to go on instead of the address there, with the slot popped. */
uint64_t swz_exit(struct swz_thunk *thunk, uint64_t *slot);

/* A function that looks at its return address has been jumped to by a hooked
 * one: *slot is a thunk's address. Puts the real one there, and ends the frame,
 * as its thunk will not be returned to. */
void swz_enter_reader(uint64_t *slot);

/* The wrapper that calls this (asm/x86_64/wrappers.S). */
void swz_wrap_reader(void);

/* The calling thread's state, or NULL if it has none. The first such call in a
 * forked child gives it a profile of its own. */
struct swz_thread *swz_current_thread(void);

/* The program is about to give up system calls: stocks up for the calling
 * thread, and makes none any more but those that its filters let pass. */
void swz_hooks_go_quiet(void);

/* Ends recording, and all use of the clock: of the calling thread at once, of
 * others at their next new edge. */
void swz_hooks_stop(void);

/* Decides where return thunks go. When the mode is known, and none is made. */
void swz_hooks_begin(void);

/* The entry hooks that trampolines lead to, by the mode and by whether there
 * are filters. When both are known. */
const struct swz_hooks *swz_hooks_choose(void);

/* A hooked function has ended in a jump to another: the return slot holds its
 * thunk, which from now on stands for the new function too, so that a chain of
 * tail calls takes no more of the return stack than the program's own does, and
 * one that goes in circles no more memory than its functions. */
void swz_enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
		       uint32_t function);

#endif
