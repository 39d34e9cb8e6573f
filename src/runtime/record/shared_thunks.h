#ifndef SWZ_RUNTIME_RECORD_SHARED_THUNKS_H
#define SWZ_RUNTIME_RECORD_SHARED_THUNKS_H

/* Which edges have free thunks of their own, and which share theirs. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Where the list of the edge's free thunks begins. All edges with the same
 * function and call site may share one (runtime/record/context.c): its thunks
 * have body and return address of each, and node and parent of the one that
 * took it last.
 */
static inline struct swz_thunk **swz_free_thunks(
	const struct swz_thread *thread, const struct swz_node *node)
{
	struct swz_thunk **list = &thread->links[swz_unit_of(node)].free;
	intptr_t shared = (intptr_t)*list;

	return shared & SWZ_IS_LIST ? (struct swz_thunk **)~shared : list;
}

/* In a list, and in `next_free`, a thunk that follows another one is held
 * negated: it is taken in another way than the usual one (asm/x86_64/macros.h).
 */
static inline struct swz_thunk *swz_free_held(struct swz_thunk *held)
{
	intptr_t way = (intptr_t)held;

	return way < 0 ? (struct swz_thunk *)-way : held;
}

static inline struct swz_thunk *swz_free_first(struct swz_thunk *const *list)
{
	return swz_free_held(*list);
}

static inline struct swz_thunk *swz_free_next(const struct swz_thunk *thunk)
{
	return swz_free_held(thunk->next_free);
}

/* Takes the first, or NULL. */
static inline struct swz_thunk *swz_free_pop(struct swz_thunk **list)
{
	struct swz_thunk *thunk = swz_free_first(list);

	if (thunk)
		*list = thunk->next_free;
	return thunk;
}

/* One that has stopped following (swz_frame_stop_following()) has its leader's
 * code in `next_free`, and follows again: it may be that a signal handler has
 * had it for a while, and what that has interrupted is about to take it. */
static inline void swz_free_push(struct swz_thunk **list,
				 struct swz_thunk *thunk)
{
	intptr_t way = (intptr_t)thunk;

	if (swz_arena_is_code((uintptr_t)thunk->next_free))
		thunk->body = (const uint8_t *)thunk->next_free;
	thunk->next_free = *list;
	*list = swz_thunk_follows(thunk) ? (struct swz_thunk *)-way : thunk;
}

/* Whether new edges are to share their thunks. */
bool swz_thunks_are_shared(const struct swz_thread *thread);

/* Lets the edge, which is new, share the list of `site`, a slot for nodes that
 * no edge has. */
void swz_share_thunks(const struct swz_thread *thread,
		      const struct swz_node *node, const struct swz_node *site);

/* For an edge that has been called often: gives it thunks of its own, if not
 * too many have. */
void swz_own_thunks(const struct swz_thread *thread,
		    const struct swz_node *node);

#endif
