#ifndef SWZ_RUNTIME_HOOKS_PAUSE_H
#define SWZ_RUNTIME_HOOKS_PAUSE_H

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

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/request.h"
#include "runtime/record/thread.h"

/* Pauses, or resumes, the calling thread. SLOT: see swz_span_begin. */
void swz_pause_thread(struct swz_thread *thread, const uint64_t *slot);
void swz_resume_thread(struct swz_thread *thread, const uint64_t *slot);

/* Whether a call with this return slot passes, for an entry hook. */
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
