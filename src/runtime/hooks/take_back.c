/* Where T lies in a slot, R is put in its place. By way of the kernel, as the
 * stack may be protected by now, or gone. A T that was copied elsewhere
 * (continuations) stays, and its thunk with it. */

#include "runtime/hooks/take_back.h"

#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/record/frames.h"
#include "thunks/arena.h"

static bool move_word(long call, int32_t pid, uint64_t *ours, uint64_t *at)
{
	struct iovec local = {ours, sizeof(*ours)};
	struct iovec remote = {at, sizeof(*at)};

	return SWZ_SYSCALL(call, pid, &local, 1, &remote, 1, 0) ==
	       sizeof(*ours);
}

/* False: the frame is there, and its slot cannot be changed. */
static bool take_back(struct swz_thunk *thunk, int32_t pid)
{
	uint64_t word, real = thunk->return_address;

	if (!move_word(SYS_process_vm_readv, pid, &word, thunk->slot))
		return false;
	return word != swz_thunk_address(thunk) ||
	       move_word(SYS_process_vm_writev, pid, &real, thunk->slot);
}

static uint32_t take_back_block(uint32_t block, int32_t pid)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t alive = swz_block_alive(block, NULL, true);
	uint32_t left = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
		if (alive >> i & 1)
			left += !take_back(&thunks[i], pid);
	return left;
}

uint32_t swz_take_back_frames(void)
{
	const int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	const struct swz_thread_cold *cold;
	uint32_t left = 0;

	for (cold = swz_thread_first(); cold; cold = cold->next)
		for (uint32_t b = 0; b < cold->block_count; b++)
			left += take_back_block(cold->blocks[b], pid);
	return left;
}
