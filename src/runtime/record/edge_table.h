#ifndef SWZ_RUNTIME_RECORD_EDGE_TABLE_H
#define SWZ_RUNTIME_RECORD_EDGE_TABLE_H

/* What finds a call edge's node by (context, call site, function): the first
 * few edges of a context are beside its own node (swz_links.children); one that
 * has more has all of them in a table of the thread's. asm/x86_64 looks there,
 * too (FIND_EDGE). */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/record/thread.h"

/* The key of the context that the edge begins in. */
static inline uint64_t swz_edge_key(const struct swz_node *node)
{
	return (uint64_t)node->parent << 32;
}

/* The edge's node, or NULL. Async-signal-safe. */
struct swz_node *swz_edge_find(const struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site);

/* What stands for all edges with a function and a call site, in the same table:
 * a slot for nodes without a function, which readers of the profile pass over.
 * `context` is the function, so to say. */
static inline void swz_site_make(struct swz_node *slot, uint32_t function,
				 uint64_t call_site)
{
	slot->context = function;
	slot->call_site = call_site;
}

/* That one, or NULL. Async-signal-safe. */
struct swz_node *swz_site_find(const struct swz_thread *thread,
			       uint32_t function, uint64_t call_site);

/* The most that an edge may bring into the table: its context's others come
 * with it. */
#define SWZ_EDGE_ENTRIES (1 + SWZ_CHILDREN)

/* What a thread's first table needs: zeros, at a page's start. */
#define SWZ_FIRST_TABLE_ROOM 8192u

/* In a forked child: begins with a small one again, since a page of a large one
 * is met, and made, for each of the first edges. The thread's is set with what
 * else its state has. */
void swz_edge_table_begin_again(struct swz_thread_cold *cold);

/* Whether it must grow before so many can be inserted. */
bool swz_edge_table_is_full(const struct swz_thread_cold *cold, uint32_t edges);

/* Lets it grow until it has room for so many more, if there is memory. Signals
 * must be blocked. */
void swz_edge_table_make_room(struct swz_thread *thread, uint32_t edges);

/* Inserts an edge or a site, and returns it; or that which an interrupted call
 * had inserted. NULL: there is no room. Signals must be blocked. */
struct swz_node *swz_edge_insert(struct swz_thread *thread,
				 struct swz_node *node);

/* The same without a system call, where a signal may come between; the table
 * must have room. Returns the edge's node in the table, which may be an
 * interrupting handler's. */
struct swz_node *swz_edge_insert_amid_signals(struct swz_thread *thread,
					      struct swz_node *node);

/* Empties the table: for a thread whose state is another's, and in a forked
 * child. */
void swz_edge_table_clear(struct swz_thread *thread);

/* Takes the edges of a context, which are few, out again. */
void swz_edge_table_forget_children(const struct swz_thread *thread,
				    uint32_t context);

#endif
