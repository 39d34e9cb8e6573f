#ifndef SWZ_RUNTIME_RECORD_EDGE_TABLE_H
#define SWZ_RUNTIME_RECORD_EDGE_TABLE_H

/* What finds a call edge's node by (context, call site, function): the first
 * few edges of a context are beside its own node (swz_links.children); one that
 * has more has all of them in a table of its own. asm/x86_64 looks there, too
 * (FIND_EDGE). */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* What swz_links.children are of a context that has a table: each with
 * SWZ_CHILDREN_IN_TABLE. */
enum {
	SWZ_TABLE_AT,   /* minus so many SWZ_TABLE_UNIT, from the room's end */
	SWZ_TABLE_MASK, /* of the places in it that are first ones, in bytes */
	SWZ_TABLE_USED, /* entries */
	SWZ_TABLE_MARK, /* nothing */
};

/* The key of the context that the edge begins in. */
static inline uint64_t swz_edge_key(const struct swz_node *node)
{
	return (uint64_t)node->parent << 32;
}

/* The edge's node, or NULL. Async-signal-safe. */
struct swz_node *swz_edge_find(const struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site);

/* Inserts an edge, and returns it; or that which an interrupted call, or a
 * signal handler, had inserted. NULL: there is no room. Async-signal-safe,
 * makes no system call. */
struct swz_node *swz_edge_insert(struct swz_thread *thread,
				 struct swz_node *node);

/* Takes the edges of a context, which are few, out again. */
void swz_edge_forget_children(const struct swz_thread *thread,
			      uint32_t context);

#endif
