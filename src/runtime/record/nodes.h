#ifndef SWZ_RUNTIME_RECORD_NODES_H
#define SWZ_RUNTIME_RECORD_NODES_H

/* Where a thread's nodes lie in the profile: slots in chunks that are its own,
 * which become larger the more it makes, within the bound of --max-memory. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* None yet. */
void swz_nodes_begin(struct swz_thread_cold *cold);

/* The next slot of the latest chunk, zeroed; NULL: it is full.
 * Async-signal-safe.
 */
struct swz_node *swz_nodes_next_slot(struct swz_thread_cold *cold);

/* The same, with a new chunk if need be. `reserve`: how many bytes of the bound
 * must be left. NULL: they would not be. Signals must be blocked. */
struct swz_node *swz_nodes_take(struct swz_thread_cold *cold, uint64_t reserve);

/* In bytes: the last part of the bound is kept for folded contexts, and for
 * what runs while the process ends. */
uint64_t swz_nodes_fold_reserve(void);

/* Whether what is left of nodes that were taken in advance, since it might be
 * that no more can be had, is for folded contexts. */
bool swz_nodes_are_kept(const struct swz_thread_cold *cold);

/* Makes room for a good number of nodes, and of sites, in advance.
 * Signals must be blocked. */
void swz_nodes_stock_up(struct swz_thread *thread);

/* The thread's chunks of nodes, the latest first; from NULL to NULL. */
struct swz_chunk *swz_nodes_chunk(const struct swz_thread_cold *cold,
				  const struct swz_chunk *after);

/* Publishes a node whose other fields are set: its function comes last. */
static inline void swz_node_publish(struct swz_node *node, uint32_t function)
{
	__atomic_store_n(&node->function, function, __ATOMIC_RELEASE);
}

#endif
