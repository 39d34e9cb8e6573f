#ifndef SWZ_RUNTIME_RECORD_EDGE_TABLE_H
#define SWZ_RUNTIME_RECORD_EDGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* --- compare and exchange ------------------------------------------------- */

/* Compare and exchange, and sums, by one instruction, between which and itself
 * no signal handler can come.
 *
 * Who may be beside us is another thread with the same thread-local storage (a
 * raw clone). So exchanges are locked: without a lock cmpxchg writes what it
 * has read, also where it swaps nothing (Intel SDM, CMPXCHG), and so takes back
 * what the other one has just put there. A child's word that is older than its
 * neighbours leads a hook to any address. They are for what is seldom changed.
 *
 * Sums have no lock, which takes twenty cycles: one's addition may be lost. */

/* True if the word was *THERE, and is VALUE now; else *there is what it is. */
static inline bool swz_swap32(uint32_t *word, uint32_t *there, uint32_t value)
{
	bool swapped;

	__asm__ volatile("lock cmpxchgl %3, %1"
			 : "=@ccz"(swapped), "+m"(*word), "+a"(*there)
			 : "r"(value)
			 : "memory");
	return swapped;
}

/* Swaps 16 bytes, at a multiple of 16. */
static inline bool swz_swap_pair(uint64_t *words, const uint64_t *there,
				 const uint64_t *values)
{
	uint64_t low = there[0], high = there[1];
	bool swapped;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(swapped), "+m"(*(uint64_t(*)[2])words),
			   "+a"(low), "+d"(high)
			 : "b"(values[0]), "c"(values[1])
			 : "memory");
	return swapped;
}

/* Adds to a word. An addition that a signal handler makes meanwhile stays,
 * too. */
static inline void swz_add64(uint64_t *word, uint64_t more)
{
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(more) : "cc");
}

static inline void swz_add32(uint32_t *word, uint32_t more)
{
	__asm__ volatile("addl %1, %0" : "+m"(*word) : "er"(more) : "cc");
}

/* Finds a call edge's node by (context, call site, function). The first few
 * edges of a context are beside its own node (swz_links.children); a context
 * that has more has all of them in a table of its own. asm/x86_64 looks there,
 * too (FIND_EDGE). */

/* Meaning of swz_links.children in a context that has a table: each with
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

/* Makes the slot that stands for all edges with a function and a call site,
 * where these share their thunks (context.h): a slot for nodes without a
 * function, which readers of the profile pass over. `context` is the function,
 * so to say. */

static inline void swz_site_make(struct swz_node *slot, uint32_t function,
				 uint64_t call_site)
{
	slot->context = function;
	slot->call_site = call_site;
}

/* Returns the node of the edge, or NULL. Async-signal-safe. */
struct swz_node *swz_site_find(const struct swz_thread_cold *cold,
			       uint32_t function, uint64_t call_site);

/* True if the table must grow before one can be inserted. */
bool swz_site_table_is_full(const struct swz_thread_cold *cold);

/* Inserts a site, and returns it; or that which an interrupted call had
 * inserted. NULL: there is no room. Signals must be blocked. */
struct swz_node *swz_site_insert(struct swz_thread_cold *cold,
				 struct swz_node *site);

/* The same without a system call, where a signal may come between; the table
 * must have room. Returns the site in the table, which may be an interrupting
 * handler's. */
struct swz_node *swz_site_insert_amid_signals(struct swz_thread_cold *cold,
					      struct swz_node *site);

/* Lets it grow until it has room for so many more, if there is memory. Signals
 * must be blocked. */
void swz_site_table_make_room(struct swz_thread_cold *cold, uint32_t sites);

/* Empties it: for a thread whose state is another's, and in a forked child. */
void swz_site_table_clear(struct swz_thread_cold *cold);

#endif
