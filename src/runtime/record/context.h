#ifndef SWZ_RUNTIME_RECORD_CONTEXT_H
#define SWZ_RUNTIME_RECORD_CONTEXT_H

/* The calling context tree of a thread (struct swz_node in swizzle/format.h).
 *
 * Recursion is folded as in Ammons, Ball and Larus, "Exploiting hardware
 * performance counters with flow and context sensitive profiling" (PLDI 1997):
 * a function that is on the path already continues in its ancestor's context.
 * See docs/internals/record.md. */

#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/thread.h"

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
 * that goes on in a forked child has found zeros (runtime/hooks/fork.c). Every
 * node has a parent. */
static inline void swz_context_mend_key(struct swz_thread *thread)
{
	if (!(thread->key >> 32) || !swz_context_node(thread->key)->parent)
		thread->key = (uint64_t)thread->cold->root << 32;
}

#endif
