#ifndef SWZ_RUNTIME_HOOKS_JUMPS_H
#define SWZ_RUNTIME_HOOKS_JUMPS_H

/* Calls by jumps that have no record (runtime/record/frames.h, swz_is_jumps).
 */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/thread.h"

/* As many are known of a frame, at most, as may be pending on one. */
#define SWZ_MOST_JUMPS 48u

/* Their nodes in a profile, the latest first. Returns how many. */
unsigned swz_jumps_of(const struct swz_file_header *file,
		      const struct swz_thunk *frame,
		      uint32_t units[SWZ_MOST_JUMPS]);

/* Whether there are any, and the function is one of theirs or the frame's own:
 * then some end when that is jumped to. */
bool swz_jumps_lead_to(const struct swz_thunk *frame, uint32_t function);

/* Gives each of them a record, which `take` makes; those for which there is
 * none are counted, and not known of any more. */
void swz_jumps_spell_out(struct swz_thread *thread, struct swz_thunk *frame,
			 struct swz_thunk *(*take)(struct swz_thread *));

#endif
