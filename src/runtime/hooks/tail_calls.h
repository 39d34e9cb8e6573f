#ifndef SWZ_RUNTIME_HOOKS_TAIL_CALLS_H
#define SWZ_RUNTIME_HOOKS_TAIL_CALLS_H

#include <stdint.h>

#include "runtime/record/thread.h"

/* A hooked function has ended in a jump to another: the return slot holds its
 * thunk, which from now on stands for the new function too, so that a chain of
 * tail calls takes no more of the return stack than the program's own does, and
 * one that goes in circles no more memory than its functions. */
void swz_enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
		       uint32_t function);

#endif
