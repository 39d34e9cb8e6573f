#ifndef SWZ_RUNTIME_RECORD_SITE_TABLE_H
#define SWZ_RUNTIME_RECORD_SITE_TABLE_H

/* What stands for all edges with a function and a call site, where these share
 * their thunks (shared_thunks.h): a slot for nodes without a function, which
 * readers of the profile pass over. `context` is the function, so to say. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

static inline void swz_site_make(struct swz_node *slot, uint32_t function,
				 uint64_t call_site)
{
	slot->context = function;
	slot->call_site = call_site;
}

/* That one, or NULL. Async-signal-safe. */
struct swz_node *swz_site_find(const struct swz_thread_cold *cold,
			       uint32_t function, uint64_t call_site);

/* Whether the table must grow before one can be inserted. */
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
