#ifndef SWZ_RUNTIME_HOOKS_LATEST_FRAME_H
#define SWZ_RUNTIME_HOOKS_LATEST_FRAME_H

/* Which of a thread's frames is the latest: nobody says that a frame was left
 * by a longjmp, or suspended with its stack, until another one is seen to run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* The thread's context is that of its latest frame, which is this one. */
void swz_set_key(struct swz_thread *thread, const struct swz_thunk *top);

/* Closes the frames that a longjmp has cut off: those of the same stack that
 * lie beneath `slot` although they are later, or at it; not `until` (or NULL),
 * nor what is earlier. */
void swz_close_skipped(struct swz_thread *thread, const uint64_t *slot,
		       struct swz_thunk *until);

/* True if the latest frame lies so far above that it may be on another stack.
 */
static inline bool swz_is_far_above(const struct swz_thread *thread,
				    const uint64_t *slot)
{
	return thread->top != &swz_bottom &&
	       (uintptr_t)thread->top->slot > (uintptr_t)slot + 8192;
}

/* A frame is entered for which there is no edge, and the latest one is far
 * above: if that is on another stack than the one that the thread began on, and
 * the new one is not, those there were left by a longjmp off the signal stack,
 * or are suspended. */
void swz_close_above(struct swz_thread *thread, const uint64_t *slot);

/* A live frame of the thread runs and is not the latest: what is later has been
 * skipped, or is suspended; or it was suspended itself. */
void swz_make_latest(struct swz_thread *thread, struct swz_thunk *thunk);

/* Frames whose slots hold the real return addresses for a while, so that an
 * unwinder need not go through their thunks. All are async-signal-safe. */

/* Exposes the frame of this live thunk of the thread's, and those that called
 * it: a number of them, behind which the unwinder meets thunks again. */
void swz_frames_expose(struct swz_thread *thread,
		       const struct swz_thunk *thunk);

/* The same where the unwinder has come to the thunk: but for its own frame,
 * since the unwinder finds the thunk's data by what is in its slot. */
void swz_frames_expose_callers(struct swz_thread *thread,
			       const struct swz_thunk *thunk);

/* Puts the thunks' addresses back into the slots of exposed frames, but for
 * those beneath `least`, which are gone. */
void swz_frames_cover(struct swz_thread *thread, const uint64_t *least);

/* True if the frame is open, one of the thread's, and its caller's lies above
 * it on the same stack, or there is none. */
bool swz_frame_is_amid_stack(const struct swz_thread *thread,
			     const struct swz_thunk *frame);

/* Frames that are suspended with their stack (fibers, coroutines).
 * See docs/internals/frames.md. */

/* The latest frame that is not elsewhere than on the stack that the thread
 * began on (swz_thread_at_home()), or &swz_bottom; one that is elsewhere, if
 * there are very many; NULL: links lead nowhere. */
struct swz_thunk *swz_latest_at_home(const struct swz_thread *thread);

/* `until` (or &swz_bottom) is the latest frame of the stack that runs now: ends
 * the times of those that are later, and makes it `top`. Does nothing if it is
 * not among the thread's latest frames. Returns whether it was. Signals must be
 * blocked. */
bool swz_suspend_after(struct swz_thread *thread, struct swz_thunk *until);

/* A suspended frame runs again: it and those that called it on its stack (the
 * nearest 64) are open from now on, called by the thread's current context.
 * Signals must be blocked. */
void swz_resume(struct swz_thread *thread, struct swz_thunk *thunk);

/* Calls whose arguments and results are recorded (record/value_signatures.h).
 * Their frames have the mark SWZ_FIRST_FRAME, or where a frame has jumped to
 * them SWZ_RECORD_CAPTURED in their record: so their exits come to C, with the
 * registers as the function has left them. All are async-signal-safe. */

/* An exception has ended the activation of a node, at the thread's latest
 * time. What it points at need not be there. */
void swz_captured_exception(struct swz_thread *thread, uint32_t node,
			    const void *exception);

/* The thunk's frame, which was at this slot, has ended: accounts it and frees
 * the thunk, if that is live and the thread's. The context is its caller's from
 * now on. HAS_VALUE: what it returns lies in the registers that the exit hook
 * has saved below the slot. Async-signal-safe. */
void swz_leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
		     uint64_t *slot, enum swz_event_kind how, bool has_value);

/* The same of one that was the latest, all the thread's own, and is no more:
 * who calls has moved `top` on, and made its slot NULL. */
void swz_leave_taken(struct swz_thread *thread, struct swz_thunk *thunk,
		     enum swz_event_kind how);

#endif
