#ifndef SWZ_RUNTIME_HOOKS_UNWOUND_H
#define SWZ_RUNTIME_HOOKS_UNWOUND_H

/* Counts, by node, the activations that an exception has ended (struct
 * swz_unwound_record in swizzle/format.h). */

#include <stdbool.h>

#include "runtime/record/thread.h"

/* The frame of a live thunk of the thread's is being unwound: to be said before
 * it is accounted. What there is no room for is not counted. Signals must be
 * blocked. */
void swz_unwound_note(struct swz_thread *thread, const struct swz_thunk *thunk);

/* The same with nothing blocked, if each of them has been counted before;
 * false: nothing was done. */
bool swz_unwound_note_again(const struct swz_thread *thread,
			    const struct swz_thunk *thunk);

#endif
