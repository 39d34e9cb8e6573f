#ifndef SWZ_RUNTIME_HOOKS_FOLLOWERS_H
#define SWZ_RUNTIME_HOOKS_FOLLOWERS_H

/* Which thunks follow a leader (thunks/leaders.h), and which frame it is that
 * comes to one. There are such only on the stack that the thread began on,
 * where the order of its frames is that of their slots. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* A new thunk is made for a frame of the edge, with this relocated prologue,
 * that is entered at `slot`. Returns the code of the leader that it is to
 * follow, if the frame is one of a deep recursion, or else `body`; NULL: a
 * leader has to be made, or the kernel asked, which can be only with signals
 * blocked (may_ask). Async-signal-safe. */
const uint8_t *swz_follow(struct swz_thread *thread,
			  const struct swz_node *node, const uint8_t *body,
			  const uint64_t *slot, bool may_ask);

/* The frame of the thread's that lies at `slot`, which holds the T of this
 * thunk, or comes from there: the thunk's own; or, if it is a leader, that of a
 * thunk which follows it. The leader itself, which is nobody's: there is none
 * (any more). Async-signal-safe. */
struct swz_thunk *swz_frame_at(const struct swz_thread *thread,
			       struct swz_thunk *thunk, const uint64_t *slot);

/* The same, and the frame goes through its thunk's own code from now on: what
 * is stored in that as its return address takes effect. */
struct swz_thunk *swz_frame_stop_following(const struct swz_thread *thread,
					   struct swz_thunk *thunk,
					   uint64_t *slot);

/* As swz_frame_at() by all of its thunks, where it is not known which frame is
 * the latest.
 */
struct swz_thunk *swz_frame_among_all(const struct swz_thread_cold *cold,
				      struct swz_thunk *thunk,
				      const uint64_t *slot);

#endif
