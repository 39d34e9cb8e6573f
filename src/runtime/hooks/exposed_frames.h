#ifndef SWZ_RUNTIME_HOOKS_EXPOSED_FRAMES_H
#define SWZ_RUNTIME_HOOKS_EXPOSED_FRAMES_H

/* Frames whose slots hold the real return addresses for a while, so that an
 * unwinder need not go through their thunks. All are async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

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

/* Whether the frame is open, one of the thread's, and its caller's lies above
 * it on the same stack, or there is none. */
bool swz_frame_is_amid_stack(const struct swz_thread *thread,
			     const struct swz_thunk *frame);

#endif
