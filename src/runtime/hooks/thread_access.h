#ifndef SWZ_RUNTIME_HOOKS_THREAD_ACCESS_H
#define SWZ_RUNTIME_HOOKS_THREAD_ACCESS_H

/* How the hooks get at the calling thread's state. */

#include <stdbool.h>

/* Makes the way there shorter by one load, by writing into the hooks how far
 * from the thread pointer swz_thread_self lies, which is the same in all
 * threads (initial-exec TLS; ELF Handling For Thread-Local Storage, 4.3.6).
 * Leaves them as they are where nothing may be executed that was written to. To
 * be called once, before any hook can run, with one thread. False: they may not
 * be executed any more, and no function may be patched. */
bool swz_thread_access_shorten(void);

#endif
