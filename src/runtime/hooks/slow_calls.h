#ifndef SWZ_RUNTIME_HOOKS_SLOW_CALLS_H
#define SWZ_RUNTIME_HOOKS_SLOW_CALLS_H

/* A hook's needs: taken where they lie ready, or else made on the thread's slow
 * stack, with signals blocked. All are async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* The calling thread's state, made if need be; NULL: it runs unrecorded. HERE:
 * the return slot of the frame that the hook is for, or NULL; `exiting`: the
 * thunk that it returns by, if it does. */
struct swz_thread *swz_this_thread(struct swz_thunk *exiting,
				   const uint64_t *here);

/* The node of the edge that leads from the context in `key` by this call site
 * to the function; NULL: there is no room. With a body and a slot given, and if
 * the node is new, *thunk is one of its thunks too. */
struct swz_node *swz_take_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk);

/* The same of an edge that has just not been found. */
struct swz_node *swz_make_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk);

/* A thunk for a call of this edge; NULL if there is none. */
struct swz_thunk *swz_take_thunk(struct swz_thread *thread,
				 struct swz_node *node, const uint8_t *body,
				 const uint64_t *slot);

/* A record of a call by a jump (runtime/record/thread.h); NULL if there is
 * none. */
struct swz_thunk *swz_take_record(struct swz_thread *thread);

/* Stocks up for the thread that has no system calls any more. */
void swz_stock_up(struct swz_thread *thread);

/* The time since BEFORE (ticks) was ours, so it is nobody's: it is noted in a
 * node of its own below the current context. Signals must be blocked. */
void swz_note_own_time(struct swz_thread *thread, uint64_t before);

/* Counts a call that is not recorded. */
void swz_lose_call(void);

/* True if a signal handler that has interrupted a hook, or what a hook calls,
 * may be running above SLOT, the return slot of a frame: by what lies on the
 * stack there, and on those that this leads to, where a handler was interrupted
 * by one on another stack. False where the handler's frame is very far from the
 * slot, or memory may not be looked at. */
bool swz_interrupted_hook(const uint64_t *slot);

#endif
