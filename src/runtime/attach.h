#ifndef SWZ_RUNTIME_ATTACH_H
#define SWZ_RUNTIME_ATTACH_H

/* In a process that ran already: what the controller calls (base/control.h).
 * See docs/attach.md. */

#include "base/control.h"

/* On a borrowed thread, which is nowhere near the dynamic linker or malloc.
 * Lists the modules, holds them, and starts a thread of our own that plans. 0,
 * or a negated error. */
long swizzle_attach(const struct swz_attach_request *request);

/* On any thread: starts one of our own, which waits until all others are
 * stopped, takes our return addresses off their stacks and closes the profile.
 */
long swz_attach_finish(void);

/* As swizzle_attach: lets the modules go. */
long swz_attach_release(void);

#endif
