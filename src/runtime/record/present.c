#include "runtime/record/present.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/syscall.h"

bool swz_make_present(char *start, uint64_t bytes)
{
	char *page = (char *)((uintptr_t)start & -(uintptr_t)4096);
	char *end = start + bytes;
	long r = SWZ_SYSCALL(SYS_madvise, page, (size_t)(end - page),
			     MADV_POPULATE_WRITE);

	if (r == 0)
		return true;
	if (r != -EINVAL && r != -EPERM)
		return false;
	/* before Linux 5.14, or where the program has given up that call: let
	 * the kernel write, which fails where we would be killed */
	for (; page < end; page += 4096) {
		char *at = page < start ? start : page;

		if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC, at) != 0)
			return false;
		memset(at, 0, sizeof(struct timespec));
	}
	return true;
}
