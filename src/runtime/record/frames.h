#ifndef SWZ_RUNTIME_RECORD_FRAMES_H
#define SWZ_RUNTIME_RECORD_FRAMES_H

/* What the fields of a thunk say of its frame, and whether that is still there.
 */

#include <stdbool.h>
#include <stdint.h>

#include "thunks/arena.h"

/* In thunk->pending: the frame's accounts are closed, it only returns yet. */
#define SWZ_CLOSED ((struct swz_thunk *)SWZ_IS_CLOSED)

/* The slot of a thunk whose frame is gone, for the next sweep: no address. */
#define SWZ_SLOT_GONE ((uint64_t *)8)

/* In thunk->start_ticks: the frame is suspended with its stack
 * (runtime/hooks/suspend.h); in the low bits what they were
 * (runtime/record/sampling.h). No start is like that: times have their bias. */
#define SWZ_SUSPENDED SWZ_START_STEP
#define SWZ_SUSPENDED_LAST (2 * SWZ_START_STEP - 1)

static inline bool swz_start_is_suspended(uint64_t start)
{
	return start >= SWZ_SUSPENDED && start <= SWZ_SUSPENDED_LAST;
}

/* One bit for each thunk of a block: whether it is live and its frame may still
 * be there, which is so as long as its return slot holds its address T, or,
 * where it may be at its entry or exit, the real return address. Slots whose
 * memory may be gone are read by way of the kernel. */
uint64_t swz_block_alive(uint32_t block);

#endif
