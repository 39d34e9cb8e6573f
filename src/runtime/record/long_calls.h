#ifndef SWZ_RUNTIME_RECORD_LONG_CALLS_H
#define SWZ_RUNTIME_RECORD_LONG_CALLS_H

/* With sampled timing an edge's long calls, which count for themselves alone,
 * have a node of their own beside that of the others (SWZ_CALL_SITE_LONG). */

#include "runtime/record/thread.h"

/* That of the edge of `node`, made if need be. NULL: there is no room, or the
 * node is folded, or is such a one itself. Async-signal-safe. */
struct swz_node *swz_long_calls_of(struct swz_thread *thread,
				   const struct swz_node *node);

#endif
