#ifndef SWZ_RUNTIME_DISCOVERY_FRAME_WALKER_H
#define SWZ_RUNTIME_DISCOVERY_FRAME_WALKER_H

/* How the sanitizers' run-time libraries record a stack: by following the saved
 * values of %rbp, in a loop that loads the return address beside each. */

#include <stdbool.h>

#include "runtime/discovery/function.h"
#include "thunks/decoder.h"

/* By its name. */
bool swz_is_frame_walker(const struct swz_function *function);

/* Notes the load with such a function, as those of a function's own return
 * address are (slot_loads.h): a thunk's address becomes the one that the thunk
 * has. Does nothing where it is not found, or cannot be had. */
void swz_frame_walker_note(const struct swz_module *module,
			   struct swz_function *function,
			   struct swz_decoder *decoder);

#endif
