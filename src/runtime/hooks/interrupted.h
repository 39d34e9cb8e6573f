#ifndef SWZ_RUNTIME_HOOKS_INTERRUPTED_H
#define SWZ_RUNTIME_HOOKS_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a signal handler that has interrupted a hook, or what a hook calls,
 * may be running above SLOT, the return slot of a frame: by what lies on the
 * stack there, and on those that this leads to, where a handler was interrupted
 * by one on another stack. False where the handler's frame is very far from the
 * slot, or memory may not be looked at. */
bool swz_interrupted_hook(const uint64_t *slot);

#endif
