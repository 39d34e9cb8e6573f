#ifndef SWZ_RUNTIME_HOOKS_API_H
#define SWZ_RUNTIME_HOOKS_API_H

/* Spans: times that the program has named. One is an activation in the context
 * tree like that of a function. It hangs, as calls by jumps do, from the latest
 * frame, and ends with that at the latest, however it ends. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/file_mapping.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "thunks/arena.h"

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

/* A return slot as the functions below want it. What a tail call finds at its
 * slot is the address of a thunk: the frame of that still runs. */
static inline const uint64_t *swz_slot_below(const uint64_t *slot)
{
	return swz_arena_contains(*slot) ? slot - 1 : slot;
}

/* Begins one, at a time (rdtsc). SLOT: the return slot of the call by which the
 * program asks, or a place below the latest frame; what lies beneath has been
 * skipped. ID: of a span's name, or of any function. CALL_SITE: where it is
 * called from. Async-signal-safe. */
void swz_span_begin(struct swz_thread *thread, const uint64_t *slot,
		    uint32_t id, uint64_t call_site, uint64_t ticks);

/* Ends the latest one of the latest frame, if it has any that nothing else has
 * begun after: of that id only, or 0: of any name. Async-signal-safe. */
bool swz_span_end(struct swz_thread *thread, const uint64_t *slot, uint32_t id,
		  uint64_t ticks);

/* Pauses: calls pass unrecorded. One is a span of that name in what ran when it
 * began (SWZ_SPAN_PAUSED), so its time is nobody else's. The frames that are
 * open stay so; when one returns meanwhile the pause goes on in its caller.
 *
 * A paused thread has swz_paused_thread or swz_paused_process as its state: the
 * hooks find nothing in it (asm/x86_64/gate.h). A thread learns at its next
 * call that the whole process was paused, and at its next call or return that
 * it is no more. Where swizzle-ctl takes the hooks out of the code there is no
 * such call: then it puts the state aside itself, and the span is begun later,
 * with the time of the stop. All are async-signal-safe. */

/* True if a call with this return slot passes, for an entry hook. */
bool swz_pause_passes(const uint64_t *slot);

/* Before anything else is recorded of a thread that is paused: begins the span
 * if that has not been done. SLOT: see swz_span_begin. */
void swz_pause_catch_up(struct swz_thread *thread, const uint64_t *slot);

/* A frame of a thread that is paused has ended, from this slot: the pause goes
 * on above. */
void swz_pause_goes_on(struct swz_thread *thread, const uint64_t *slot);

static inline bool swz_pause_concerns(void)
{
	return swz_thread_is_paused() || swz_request_is_paused();
}

#endif
