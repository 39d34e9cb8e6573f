#ifndef SWZ_RUNTIME_HOOKS_LANDING_H
#define SWZ_RUNTIME_HOOKS_LANDING_H

/* The end of an unwinder's way past hooked frames. All are async-signal-safe.
 * See docs/internals/unwinding.md. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* An unwinder asks for the unwind information of this address. If that is in
 * one of its functions that begin an unwinding, the frames that it will come to
 * are exposed at once. */
void swz_landing_begin(uint64_t address);

/* The calling thread walks its stack in functions whose frames lie beneath
 * this one: that may come across such a function, too. */
void swz_landing_walk(const void *frame);

/* A forced unwind is on its way: no frame of it is passed. */
void swz_landing_forced(void);

/* An unwinder that tells where it will land has come to this thunk's frame. In
 * the search phase nothing is to be done but that. When it cleans up, returns
 * whether it may pass: the frame will be accounted where the unwinder lands. */
void swz_landing_search(struct swz_thunk *thunk);
bool swz_landing_pass(struct swz_thunk *thunk);

/* This exception (as a personality routine is told of it) is on its way to the
 * calling thread's next landing. */
void swz_landing_exception(const void *exception);

/* The unwinder will land in the frame whose %rsp was `cfa` when it made the
 * call from before `call_site`, at `pad`. Returns where it is to go instead: a
 * thunk that accounts the frames passed, or `pad`. */
uint64_t swz_landing_prepare(const uint64_t *cfa, uint64_t call_site,
			     uint64_t pad);

/* Whether this is such a thunk; it was gone to, and slot + 1 is %rsp. Accounts
 * the frames and returns the landing pad. */
bool swz_is_landing(const struct swz_thunk *thunk);
uint64_t swz_landing_arrive(struct swz_thunk *thunk, const uint64_t *slot);

/* The wrapper of _Unwind_SetIP (asm/x86_64/wrappers.S). */
void swz_wrap_set_ip(void);

#endif
