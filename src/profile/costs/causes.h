#ifndef SWZ_PROFILE_COSTS_CAUSES_H
#define SWZ_PROFILE_COSTS_CAUSES_H

/* Work that a thread does for another one has a second parent: the call that
 * posted it (a job that was queued, a request that was written, a thread that
 * was created). The contexts of all threads are put together so that such work
 * hangs below that call, as --flows have recorded it, across threads and
 * processes. Every call and every ns stays one: sums are those of the contexts
 * by callers. docs/flows.md says what counts as posted. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/costs/call_tree.h"
#include "profile/costs/contexts.h"
#include "profile/file/reader.h"
#include "profile/flows/flows.h"

struct swz_causes;

struct swz_causes *swz_causes_begin(void);
void swz_causes_free(struct swz_causes *causes); /* NULL is fine */

/* A thread, the flows' THREAD of PROCESS, and its contexts, which are by unit
 * and become CAUSES' own. */
void swz_causes_add(struct swz_causes *causes, uint32_t process,
		    uint32_t thread, const struct swz_profile *profile,
		    struct swz_contexts *own);

/* Puts the contexts of all threads into TO, which has its root alone. FLOWS may
 * be NULL. RANGE: of whose events the contexts are, or NULL. */
void swz_causes_place(struct swz_causes *causes, const struct swz_flows *flows,
		      const struct swz_range *range, struct swz_contexts *to);

#endif
