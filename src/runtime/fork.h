#ifndef SWZ_RUNTIME_FORK_H
#define SWZ_RUNTIME_FORK_H

#include "runtime/thread.h"

/* Called at the first hook in a forked child, whose thread state the kernel has
 * wiped: gives the child a profile of its own, in which the frames that were
 * open at the fork are open since now. `exiting`: the thunk whose exit is being
 * made, or NULL. Returns the
 * thread's state, or NULL if the child runs unrecorded (swz_recording is then
 * false). Signals must be blocked. */
struct swz_thread *swz_fork_child(struct swz_thread *hot,
				  struct swz_thunk *exiting);

#endif
