/* A program that locks all of its memory (mlockall) is refused if it has more
 * address space than it may lock, and else the kernel makes all of it present:
 * the profile at the full length that it is mapped with, as well, which is
 * gigabytes for a trace. So what the program has is locked mapping by mapping,
 * and our reserves are left out. What is mapped later the kernel locks by
 * itself.
 */

#include "runtime/compat/locked_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/own_memory.h"
#include "base/syscall.h"
#include "thunks/arena.h"
#include "thunks/maps.h"

#ifndef MCL_ONFAULT /* Linux 4.4 */
#define MCL_ONFAULT 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

#define PAGE UINT64_C(4096)

/* What is not ours of what is mapped: goes through it from the beginning. */
struct theirs {
	struct swz_maps maps;
	struct swz_mapping rest; /* of the mapping at which it is */
	uint64_t low, high;
};

static bool begin(struct theirs *t)
{
	t->rest.low = t->rest.high = 0;
	return swz_maps_open(&t->maps);
}

static bool next(struct theirs *t)
{
	uint64_t start, end;

	for (;;) {
		if (t->rest.low == t->rest.high &&
		    !swz_maps_next(&t->maps, &t->rest))
			return false;
		t->low = t->rest.low;
		t->high = t->rest.high;
		if (swz_own_next(t->low, t->high, &start, &end)) {
			t->high = start;
			t->rest.low = end;
		} else {
			t->rest.low = t->high;
		}
		if (t->low < t->high)
			return true;
	}
}

/* What the limit would be compared with. UINT64_MAX: not known. */
static uint64_t bytes_to_lock(void)
{
	struct theirs t;
	uint64_t bytes = 0;

	if (!begin(&t))
		return UINT64_MAX;
	while (next(&t))
		bytes += t.high - t.low;
	swz_maps_close(&t.maps);
	return bytes;
}

/* Whether the limit is none for this process (CAP_IPC_LOCK in the first user
 * name space, which only the kernel can tell): tried out on the arena. */
static bool is_privileged(rlim_t limit)
{
	uint64_t more = (limit & -PAGE) + PAGE;

	if (limit >= SWZ_ARENA_BYTES ||
	    SWZ_SYSCALL(SYS_mlock2, swz_arena_start, more, MLOCK_ONFAULT) != 0)
		return false;
	SWZ_SYSCALL(SYS_munlock, swz_arena_start, more);
	return true;
}

static bool may_lock(void)
{
	struct rlimit limit;

	return SWZ_SYSCALL(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit) ==
		       0 &&
	       (is_privileged(limit.rlim_cur) ||
		(limit.rlim_cur && bytes_to_lock() <= limit.rlim_cur));
}

/* As the kernel does, whether or not each can be made present. False where
 * mlock2 is not allowed (a filter that the process was executed with). */
static bool lock_each(int flags)
{
	struct theirs t;
	long status = 0;

	if (!begin(&t))
		return false;
	while (status != -EPERM && status != -ENOSYS && next(&t))
		status = SWZ_SYSCALL(SYS_mlock2, t.low, t.high - t.low,
				     flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0);
	swz_maps_close(&t.maps);
	return status != -EPERM && status != -ENOSYS;
}

int swz_lock_all(int flags, int (*real)(int flags));
int swz_lock_all(int flags, int (*real)(int flags))
{
	int valid = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
	bool later = flags & MCL_FUTURE;

	if (flags & ~valid || !(flags & MCL_CURRENT) || swz_system_calls_end ||
	    !may_lock()) {
		int result = real(flags);

		if (result == 0)
			swz_memory_is_locked = later;
		return result;
	}
	if (later && real(flags & ~MCL_CURRENT) != 0)
		return -1;
	if (!later && swz_memory_is_locked)
		SWZ_SYSCALL(SYS_munlockall);
	swz_memory_is_locked = later;
	return lock_each(flags) ? 0 : real(flags);
}
