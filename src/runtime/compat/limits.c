/* Limits that a program sets on its memory. What we map counts against them:
 * the profile's reserve alone is gigabytes of address space. So libc's
 * setrlimit, getrlimit and prlimit go through wrappers that leave our share
 * out, and mlockall locks only what is the program's. The trap: a limit that
 * was set before we came, or by a system call that is not libc's, is never seen
 * here. */

#include "base/basics.h"
#include "runtime/compat/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/syscall.h"
#include "runtime/record/record_file.h"
#include "thunks/arena.h"
#include "thunks/maps.h"

/* ---------------------------------------------------------------- mlockall */

/* A program that locks all of its memory (mlockall) is refused if it has more
 * address space than it may lock, and else the kernel makes all of it present:
 * the profile at the full length that it is mapped with, as well, which is
 * gigabytes for a trace. So what the program has is locked mapping by mapping,
 * and our reserves are left out. What is mapped later the kernel locks by
 * itself.
 */

#ifndef MCL_ONFAULT /* Linux 4.4 */
#define MCL_ONFAULT 4
#endif

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

/* Goes from the beginning through the mappings that are not ours. */
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

/* The number of bytes that the limit would be compared with. UINT64_MAX: not
 * known. */
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

/* True if the limit is none for this process (CAP_IPC_LOCK in the first user
 * name space, which only the kernel can tell): tried out on the arena. */
static bool is_privileged(rlim_t limit)
{
	uint64_t more = swz_page_down(limit) + SWZ_PAGE;

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

/* ------------------------------------------- setrlimit, getrlimit, prlimit */

/* Our mappings count where a program limits its own address space, or the part
 * of it that is private and writable (RLIMIT_DATA since Linux 4.7), and they
 * are more than most such limits: the program would be refused memory that it
 * has without us. So its limit is made so much higher, and the limit that it
 * reads so much lower. */

/* The arena; tables, trampolines, threads' states. */
#define ARENA (UINT64_C(512) << 20)
#define TABLES (UINT64_C(256) << 20)
/* The profile, a forked child's beside it, and the place that the first moves
 * to meanwhile (swz_file_replace). */
#define FILES 3
/* The kernel counts in pages, and limits are whole KiB: what is below tells a
 * limit of ours, also to what this process executes. */
#define UNIT UINT64_C(1024)
#define MARK UINT64_C(0x2f5)

/* The latest of this process, soft and hard. */
struct latest {
	rlim_t ours, theirs;
};

static struct latest of_space[2], of_data[2];

/* The kernel's count for this process, in bytes; 0 if it does not say. */
static void count(rlim_t *space, rlim_t *data)
{
	/* pages: size, resident, shared, text, lib, data */
	rlim_t pages[6] = {0};
	char text[160];
	unsigned at = 0;
	long fd = SWZ_SYSCALL(SYS_open, "/proc/thread-self/statm",
			      O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? 0 : SWZ_SYSCALL(SYS_read, fd, text, sizeof(text));

	if (fd >= 0)
		SWZ_SYSCALL(SYS_close, fd);
	for (long i = 0; i < n && at < 6; i++)
		if (text[i] >= '0' && text[i] <= '9')
			pages[at] = pages[at] * 10 + (rlim_t)(text[i] - '0');
		else
			at++;
	*space = pages[0] * 4096;
	*data = pages[5] * 4096;
}

/* A limit of ours was made higher for the sake of what we need. */
static bool leaves(int what, rlim_t used, rlim_t bytes)
{
	struct rlimit limit;

	return SWZ_SYSCALL(SYS_prlimit64, 0, what, NULL, &limit) != 0 ||
	       limit.rlim_cur % UNIT == MARK ||
	       (limit.rlim_cur > used && limit.rlim_cur - used >= bytes);
}

bool swz_limits_leave_room(void)
{
	rlim_t file = swz_file_mapped_bytes();
	rlim_t links = swz_file_links_bytes();
	rlim_t space = ARENA + file + links, data = TABLES + links;
	rlim_t space_used, data_used;

	if (leaves(RLIMIT_AS, RLIM_INFINITY - space, space) &&
	    leaves(RLIMIT_DATA, RLIM_INFINITY - data, data))
		return true; /* there are none */
	count(&space_used, &data_used);
	return leaves(RLIMIT_AS, space_used, space) &&
	       leaves(RLIMIT_DATA, data_used, data);
}

/* By how much; 0: we have no part in it. */
static rlim_t share_of(int what)
{
	rlim_t file = swz_file_mapped_bytes();
	rlim_t links = swz_file_links_bytes();

	if (what == RLIMIT_AS)
		return ARENA + TABLES + FILES * file + links;
	return what == RLIMIT_DATA ? TABLES + links : 0;
}

static struct latest *latest_of(int what)
{
	return what == RLIMIT_AS ? of_space : of_data;
}

static rlim_t higher(rlim_t limit, rlim_t share)
{
	return limit < RLIM_INFINITY - share - UNIT
		       ? (limit & -UNIT) + share + MARK
		       : limit;
}

static rlim_t lower(const struct latest *latest, rlim_t limit, rlim_t share)
{
	if (latest->ours && limit == latest->ours)
		return latest->theirs;
	return limit % UNIT == MARK && limit - MARK >= share
		       ? limit - MARK - share
		       : limit;
}

/* A wrong pointer is the kernel's to refuse. */
static bool is_readable(const struct rlimit *limit)
{
	return swz_sys_is_readable((uintptr_t)&limit->rlim_cur) &&
	       swz_sys_is_readable((uintptr_t)&limit->rlim_max);
}

typedef int setter(int what, const struct rlimit *limit);

/* A system call of our own leaves errno alone, if we may make one; `real` is
 * needed if not. */
static bool set(int what, const struct rlimit *limit, setter *real)
{
	if (swz_system_calls_end)
		return real && real(what, limit) == 0;
	return SWZ_SYSCALL(SYS_prlimit64, 0, what, limit, NULL) == 0;
}

/* True if the program may not have a hard limit as high as it wants: it has
 * one that is ours, and has not been allowed one that is so much higher again.
 */
static bool raises_hard(int what, const struct rlimit *wanted, rlim_t share)
{
	struct rlimit now;
	rlim_t theirs;

	if (SWZ_SYSCALL(SYS_prlimit64, 0, what, NULL, &now) != 0)
		return false;
	theirs = lower(&latest_of(what)[1], now.rlim_max, share);
	return theirs != now.rlim_max && wanted->rlim_max > theirs;
}

/* NULL: done. Otherwise it is the kernel's to answer to what is returned. */
static const struct rlimit *set_higher(int what, const struct rlimit *wanted,
				       struct rlimit *ours, setter *real)
{
	rlim_t share = share_of(what);
	struct latest *latest = latest_of(what);

	if (!share || !is_readable(wanted) ||
	    wanted->rlim_cur > wanted->rlim_max)
		return wanted;
	ours->rlim_cur = higher(wanted->rlim_cur, share);
	ours->rlim_max = higher(wanted->rlim_max, share);
	if (!set(what, ours, real)) {
		if (raises_hard(what, wanted, share))
			return ours; /* refused again */
		/* a hard limit of another's may not be raised */
		ours->rlim_max = wanted->rlim_max;
		if (ours->rlim_cur > ours->rlim_max)
			ours->rlim_cur = ours->rlim_max;
		if (!set(what, ours, real))
			return wanted;
	}
	latest[0].ours = ours->rlim_cur;
	latest[0].theirs = wanted->rlim_cur;
	latest[1].ours = ours->rlim_max;
	latest[1].theirs = wanted->rlim_max;
	return NULL;
}

/* As the program has set it. */
static void lower_both(int what, struct rlimit *limit)
{
	const struct latest *latest = latest_of(what);
	rlim_t share = share_of(what);

	limit->rlim_cur = lower(&latest[0], limit->rlim_cur, share);
	limit->rlim_max = lower(&latest[1], limit->rlim_max, share);
}

/* The profile's file is not to be bounded by what the program is allowed from
 * now on. */
static void let_file_grow(int what)
{
	if (what == RLIMIT_FSIZE && !swz_system_calls_end)
		swz_extent_reach_all();
}

int swz_limit_set(int what, const struct rlimit *wanted, setter *real);

int swz_limit_set(int what, const struct rlimit *wanted, setter *real)
{
	struct rlimit ours;

	let_file_grow(what);
	wanted = set_higher(what, wanted, &ours, real);
	return wanted ? real(what, wanted) : 0;
}

int swz_limit_get(int what, struct rlimit *limit,
		  int (*real)(int what, struct rlimit *limit));

int swz_limit_get(int what, struct rlimit *limit,
		  int (*real)(int what, struct rlimit *limit))
{
	int result = real(what, limit);

	if (result == 0 && share_of(what))
		lower_both(what, limit);
	return result;
}

/* True for this process. Nothing is known of another one. */
static bool is_own(int pid)
{
	return !pid || pid == SWZ_SYSCALL(SYS_getpid);
}

typedef int changer(int pid, int what, const struct rlimit *wanted,
		    struct rlimit *before);

int swz_limit_change(int pid, int what, const struct rlimit *wanted,
		     struct rlimit *before, changer *real);

int swz_limit_change(int pid, int what, const struct rlimit *wanted,
		     struct rlimit *before, changer *real)
{
	struct rlimit old = {0}, ours;
	int result;

	let_file_grow(what);
	if (!share_of(what) || swz_system_calls_end || !is_own(pid))
		return real(pid, what, wanted, before);
	SWZ_SYSCALL(SYS_prlimit64, 0, what, NULL, &old);
	lower_both(what, &old);
	if (wanted)
		wanted = set_higher(what, wanted, &ours, NULL);
	result = real(pid, what, wanted, before);
	if (result == 0 && before)
		*before = old;
	return result;
}
