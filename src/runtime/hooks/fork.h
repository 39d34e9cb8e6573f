#ifndef SWZ_RUNTIME_HOOKS_FORK_H
#define SWZ_RUNTIME_HOOKS_FORK_H

#include "runtime/record/thread.h"

/* Called at the first hook that the forking thread has in the child, whose
 * thread state the kernel has wiped: gives the child a profile of its own, in
 * which the frames that were open at the fork are open since now. `exiting`:
 * the thunk whose exit is being made, or NULL; `here`: the return slot of the
 * frame that the hook is for, or NULL. Returns the thread's state; NULL if
 * another thread is just making the profile, so that this call goes unrecorded;
 * if the child runs unrecorded, swz_recording is false. Signals must be
 * blocked.
 * See docs/internals/threads.md. */
struct swz_thread *swz_fork_child(struct swz_thread *hot,
				  struct swz_thunk *exiting,
				  const uint64_t *here);

/* swz_thread_begin, which gives a forked child its profile if the forking
 * thread has not yet: then the frames that were open are not in it. */
struct swz_thread *swz_fork_begin_thread(void);

#endif
