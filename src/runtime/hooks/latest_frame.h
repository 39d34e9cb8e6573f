#ifndef SWZ_RUNTIME_HOOKS_LATEST_FRAME_H
#define SWZ_RUNTIME_HOOKS_LATEST_FRAME_H

/* Which of a thread's frames is the latest: nobody says that a frame was left
 * by a longjmp, or suspended with its stack, until another one is seen to run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/thread.h"

/* The thread's context is that of its latest frame, which is this one. */
void swz_set_key(struct swz_thread *thread, const struct swz_thunk *top);

/* Closes the frames that a longjmp has cut off: those of the same stack that
 * lie beneath `slot` although they are later, or at it; not `until` (or NULL),
 * nor what is earlier. */
void swz_close_skipped(struct swz_thread *thread, const uint64_t *slot,
		       struct swz_thunk *until);

/* Whether the latest frame lies so far above that it may be on another stack.
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

#endif
