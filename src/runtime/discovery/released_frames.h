#ifndef SWZ_RUNTIME_DISCOVERY_RELEASED_FRAMES_H
#define SWZ_RUNTIME_DISCOVERY_RELEASED_FRAMES_H

/* Functions that are handed what lies below the stack pointer. */

#include "runtime/discovery/function.h"

/* Sets finds_below of those that the function jumps to when it has given its
 * frame up, with the address of something in it in a register for arguments
 * that they may use. It may be called for several functions at a time. */
void swz_released_frame_find(const struct swz_module *module,
			     const struct swz_function *function);

#endif
