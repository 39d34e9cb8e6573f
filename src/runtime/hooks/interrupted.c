/* The kernel has put the place that was interrupted onto the stack on which the
 * handler runs, two words before the code segment. (An address in our text
 * alone may be what earlier hooks have left there.) */

#include "runtime/hooks/interrupted.h"

#include <stddef.h>
#include <sys/uio.h>

#include "base/syscall.h"

#define LOOKED_AT_BYTES (256u << 10)
#define PIECE_BYTES 4096u

extern const char swz_text_start[], swz_text_end[];

static bool is_ours(uint64_t address)
{
	return address - (uintptr_t)swz_text_start <
	       (uintptr_t)swz_text_end - (uintptr_t)swz_text_start;
}

/* Of a 64-bit program, in the low half of a word (gregs[REG_CSGSFS]). */
#define CODE_SEGMENT 0x33u

bool swz_interrupted_hook(const uint64_t *slot)
{
	uint64_t before[2] = {0, 0};
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	uint64_t words[PIECE_BYTES / sizeof(uint64_t)] = {0};
	uintptr_t at = (uintptr_t)(slot + 1);
	uintptr_t end = at + LOOKED_AT_BYTES;

	while (at < end) {
		/* up to the next page, which may not be there */
		size_t bytes = PIECE_BYTES - at % PIECE_BYTES;
		struct iovec local = {words, bytes};
		struct iovec remote = {(void *)at, bytes};
		long got = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1,
				       &remote, 1, 0);

		if (got <= 0)
			break;
		for (size_t i = 0; i < (size_t)got / sizeof(*words); i++) {
			if ((uint16_t)words[i] == CODE_SEGMENT &&
			    is_ours(before[0]))
				return true;
			before[0] = before[1];
			before[1] = words[i];
		}
		at += bytes;
	}
	return false;
}
