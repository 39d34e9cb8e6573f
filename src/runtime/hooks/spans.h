#ifndef SWZ_RUNTIME_HOOKS_SPANS_H
#define SWZ_RUNTIME_HOOKS_SPANS_H

/* Spans: times that the program has named. One is an activation in the context
 * tree like that of a function. It hangs, as calls by jumps do, from the latest
 * frame, and ends with that at the latest, however it ends. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/thread.h"
#include "thunks/arena.h"

/* A return slot as the functions below want it. What a tail call finds at its
 * slot is the address of a thunk: the frame of that still runs. */
static inline const uint64_t *swz_slot_below(const uint64_t *slot)
{
	return swz_arena_contains(*slot) ? slot - 1 : slot;
}

/* Begins one, at a time (rdtsc). SLOT: the return slot of the call by which the
 * program asks, or a place below the latest frame; what lies beneath has been
 * skipped. CALL_SITE: where it is called from. Async-signal-safe. */
void swz_span_begin(struct swz_thread *thread, const uint64_t *slot,
		    uint32_t id, uint64_t call_site, uint64_t ticks);

/* Ends the latest one of the latest frame, if it has any that nothing else has
 * begun after: of that id only, or 0: of any. Async-signal-safe. */
bool swz_span_end(struct swz_thread *thread, const uint64_t *slot, uint32_t id,
		  uint64_t ticks);

/* The context of the thread's outermost frames: its root, or the latest span
 * that no frame holds. */
static inline uint32_t swz_span_root(const struct swz_thread_cold *cold)
{
	const struct swz_node *node;

	if (!cold->span_count)
		return cold->root;
	node = swz_unit_at(cold->spans[cold->span_count - 1].node);
	return node->context;
}

#endif
