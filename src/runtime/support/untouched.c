/* /proc/self/pagemap has 8 bytes for each page. Of one that was written to the
 * process has a copy of its own, which is no page of a file. */

#include "runtime/support/untouched.h"

#include <fcntl.h>

#include "base/syscall.h"

#define PAGE UINT64_C(4096)
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)

static bool is_copy(uint64_t entry)
{
	return entry & SWAPPED || (entry & PRESENT && !(entry & OF_FILE));
}

static bool are_of_file(int fd, uint64_t page, uint64_t end)
{
	uint64_t entries[256];

	while (page < end) {
		uint64_t count = end - page < 256 ? end - page : 256;
		long r = SWZ_SYSCALL(SYS_pread64, fd, entries,
				     count * sizeof(*entries),
				     page * sizeof(*entries));

		if (r != (long)(count * sizeof(*entries)))
			return false;
		for (uint64_t i = 0; i < count; i++)
			if (is_copy(entries[i]))
				return false;
		page += count;
	}
	return true;
}

bool swz_is_untouched(uint64_t start, uint64_t end)
{
	static uint64_t written = 1; /* a page that is a copy, to be sure */
	uint64_t own = (uintptr_t)&written / PAGE;
	long fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, "/proc/self/pagemap",
			      O_RDONLY | O_CLOEXEC);
	bool untouched;

	if (fd < 0)
		return false;
	__atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
	untouched = !are_of_file((int)fd, own, own + 1) &&
		    are_of_file((int)fd, start / PAGE, (end + PAGE - 1) / PAGE);
	SWZ_SYSCALL(SYS_close, fd);
	return untouched;
}
