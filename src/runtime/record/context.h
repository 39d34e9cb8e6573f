#ifndef SWZ_RUNTIME_RECORD_CONTEXT_H
#define SWZ_RUNTIME_RECORD_CONTEXT_H

/* Contexts: the tree of call paths, its nodes, and how edges are made. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"

/* --- contexts ------------------------------------------------------------- */

/* A thread's nodes: slots in chunks of the profile that are its own. The
 * chunks become larger the more it makes, within the bound of --max-memory. */

/* None yet. */
void swz_nodes_begin(struct swz_thread_cold *cold);

/* The next slot of the latest chunk, zeroed; NULL: it is full.
 * Async-signal-safe.
 */
struct swz_node *swz_nodes_next_slot(struct swz_thread_cold *cold);

/* The same, with a new chunk if need be. `reserve`: how many bytes of the bound
 * must be left. NULL: they would not be. Signals must be blocked. */
struct swz_node *swz_nodes_take(struct swz_thread_cold *cold, uint64_t reserve);

/* True if what is left of nodes that were taken in advance, since it might be
 * that no more can be had, is for folded contexts. */
bool swz_nodes_are_kept(const struct swz_thread_cold *cold);

/* Makes room for a good number of nodes, and of sites, in advance.
 * Signals must be blocked. */
void swz_nodes_stock_up(struct swz_thread *thread);

/* The thread's chunks of nodes, the latest first; from NULL to NULL. */
struct swz_chunk *swz_nodes_chunk(const struct swz_thread_cold *cold,
				  const struct swz_chunk *after);

/* Edges that have free thunks of their own, and edges that share theirs. */

/* The head of the list of the edge's free thunks. All edges with the same
 * function and call site may share one (runtime/record/context.c): its thunks
 * have body and return address of each, and node and parent of the one that
 * took it last. */
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

/* Lets the edge, which is new, share the list of `site`, a slot for nodes that
 * no edge has. */
void swz_share_thunks(const struct swz_thread *thread,
		      const struct swz_node *node, const struct swz_node *site);

/* For an edge that has been called often: gives it thunks of its own, if not
 * too many have. */
void swz_own_thunks(const struct swz_thread *thread,
		    const struct swz_node *node);

/* True if a call of a function that is on the path already gets a context of
 * its own, or is folded: goes on in that of the call further up (Ammons, Ball
 * and Larus, PLDI 1997). With a context for each call the tree shows the true
 * stacks. But the contexts of a binary recursion double with each level, and
 * those of a deep one do not end. docs/recursion.md says how the bounds were
 * chosen. */

/* Decides it for a new edge to FUNCTION from the context of KEY. Returns 0: it
 * gets a context of its own, which is counted; or the unit of the context in
 * which it goes on, the nearest of the function on the path.
 * Async-signal-safe. */
uint32_t swz_recursion_fold(struct swz_thread *thread, uint64_t key,
			    uint32_t function);

/* The calling context tree of a thread (struct swz_node in swizzle/format.h).
 *
 * Recursion is folded as in Ammons, Ball and Larus, "Exploiting hardware
 * performance counters with flow and context sensitive profiling" (PLDI 1997):
 * a function that is on the path already continues in its ancestor's context.
 * See docs/internals/record.md. */

/* Makes the edge's node, without a system call. NULL: there is no room at hand.
 * Async-signal-safe. */
struct swz_node *swz_context_make_at_once(struct swz_thread *thread,
					  uint64_t key, uint32_t function,
					  uint64_t call_site);

/* Makes the edge's node. NULL: the memory bound is reached (then see
 * swz_context_any_edge). Signals must be blocked. */
struct swz_node *swz_context_make(struct swz_thread *thread, uint64_t key,
				  uint32_t function, uint64_t call_site);

/* Either: NULL if the edge is new and there is no room for it. Signals must be
 * blocked. */
struct swz_node *swz_context_edge(struct swz_thread *thread, uint64_t key,
				  uint32_t function, uint64_t call_site);

/* The edge's node if its own context has no room, see swizzle/format.h: that of
 * all calls of the function from there, in whatever context; or NULL. */
struct swz_node *swz_context_find_folded(const struct swz_thread *thread,
					 uint64_t key, uint32_t function,
					 uint64_t call_site);

/* As swz_context_edge; but where there is no room for the edge in its own
 * context, the folded one's node. NULL: there is no room for that either, or it
 * is code made at run time. */
struct swz_node *swz_context_any_edge(struct swz_thread *thread, uint64_t key,
				      uint32_t function, uint64_t call_site);

/* The key of the thread's fold root. */
static inline uint64_t swz_context_fold_key(const struct swz_thread *thread)
{
	return (uint64_t)thread->cold->fold_root << 32;
}

/* Makes the thread's root and fold root. */
enum swz_status swz_context_begin(struct swz_thread *thread) SWZ_MUST_CHECK;

/* The node whose context this key is. */
static inline struct swz_node *swz_context_node(uint64_t key)
{
	return swz_unit_at(key >> 32);
}

/* The root's key where the thread's is of no context: a hook of the parent's
 * that goes on in a forked child has found zeros (runtime/hooks/slow_calls.c).
 * Every node has a parent. */
static inline void swz_context_mend_key(struct swz_thread *thread)
{
	if (!(thread->key >> 32) || !swz_context_node(thread->key)->parent)
		thread->key = (uint64_t)thread->cold->root << 32;
}

/* With sampled timing an edge's long calls, which count for themselves alone,
 * have a node of their own beside that of the others (SWZ_CALL_SITE_LONG). */

/* --- activations: calls that are open ------------------------------------- */

/* A node's activations: what is counted and added up when one begins and ends,
 * in the order in which the hooks do it (asm/x86_64/enter.S, exit.S). Times are
 * those of swz_now(), with what runtime/record/sampling.h puts into their low
 * bits. Async-signal-safe. */

/* Counts a call whose time is that of an activation which goes on. */
void swz_activation_count(struct swz_thread *thread, struct swz_node *node);

/* Begins one; returns the callee's key. */
uint64_t swz_activation_enter(struct swz_thread *thread, struct swz_node *node,
			      uint64_t start);

/* The same for one that was entered, and counted, before. */
uint64_t swz_activation_resume(struct swz_thread *thread, struct swz_node *node,
			       uint64_t start);

/* Ends one; `how` is for the trace. */
void swz_activation_leave(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now,
			  enum swz_event_kind how);

#endif
