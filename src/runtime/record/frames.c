#include "runtime/record/frames.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/record/home_stack.h"

#define PAGE UINT64_C(4096)

/* Whether there is memory, if none that can be read: a stack that the program
 * has closed off as long as it is suspended. */
static bool is_mapped(const uint64_t *slot)
{
	uintptr_t page = (uintptr_t)slot & -PAGE;
	unsigned char present;

	return SWZ_SYSCALL(SYS_mincore, page, PAGE, &present) != -ENOMEM;
}

/* Reads slots by way of the kernel; false where the memory is gone. What cannot
 * be read is left as it is. */
static void read_slots(uint64_t *const *slots, unsigned count, uint64_t *words,
		       bool *readable)
{
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	struct iovec remote[SWZ_BLOCK_THUNKS];
	unsigned done = 0;

	while (done < count) {
		struct iovec local = {words + done,
				      (count - done) * sizeof(*words)};
		unsigned got;
		long r;

		for (unsigned i = done; i < count; i++) {
			remote[i].iov_base = slots[i];
			remote[i].iov_len = sizeof(*words);
		}
		r = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1,
				remote + done, count - done, 0);
		got = r > 0 ? (unsigned)r / sizeof(*words) : 0;
		for (unsigned i = done; i < done + got; i++)
			readable[i] = true;
		done += got;
		if (done == count)
			break;
		/* Where we are not allowed to look, nothing is taken to be
		 * gone: the word is what a live frame has there. */
		readable[done] = (r < 0 && r != -EFAULT) ||
				 is_mapped(slots[done]);
		done++;
	}
}

unsigned swz_stack_words(const uint64_t *from, uint64_t words[SWZ_PAGE_WORDS])
{
	size_t bytes = PAGE - (uintptr_t)from % PAGE;
	struct iovec local = {words, bytes};
	struct iovec remote = {(void *)(uintptr_t)from, bytes};
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	long got = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1, &remote, 1,
			       0);

	return got > 0 ? (unsigned)got / sizeof(*words) : 0;
}

/* The word in a live frame's slot: the thunk's address, or, while the frame is
 * being entered or left, the real return address. That may also be left there
 * by other frames, so it proves nothing for one that is known to be in neither
 * hook. */
static bool may_be_live(const struct swz_thunk *thunk, uint64_t word,
			bool closed_too)
{
	if (word == swz_thunk_address(thunk))
		return true;
	return word == thunk->return_address &&
	       !swz_start_is_suspended(thunk->start_ticks) &&
	       (closed_too || thunk->pending != SWZ_CLOSED);
}

uint64_t swz_block_alive(uint32_t block, const uint64_t *in_use,
			 bool closed_too)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t *slots[SWZ_BLOCK_THUNKS], words[SWZ_BLOCK_THUNKS];
	bool readable[SWZ_BLOCK_THUNKS];
	unsigned which[SWZ_BLOCK_THUNKS], count = 0;
	bool on_main_stack = swz_on_main_stack(in_use);
	uint64_t alive = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
		uint64_t *slot = thunks[i].slot;

		if (!slot)
			continue;
		if (on_main_stack && slot >= in_use &&
		    swz_on_main_stack(slot)) {
			if (may_be_live(&thunks[i], *slot, closed_too))
				alive |= 1ull << i;
			continue;
		}
		words[count] = swz_thunk_address(&thunks[i]);
		slots[count] = slot;
		which[count++] = i;
	}
	if (count)
		read_slots(slots, count, words, readable);
	for (unsigned i = 0; i < count; i++)
		if (readable[i] &&
		    may_be_live(&thunks[which[i]], words[i], closed_too))
			alive |= 1ull << which[i];
	return alive;
}
