/* What we map counts where a program limits its own address space, or what of
 * it is private and writable (RLIMIT_DATA since Linux 4.7), and is more than
 * most such limits: the program would be refused memory that it has without us.
 * So its limit is made so much higher, and what it reads of it so much lower.
 */

#include "runtime/compat/address_space.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/syscall.h"
#include "runtime/record/file.h"
#include "runtime/record/file_extent.h"
#include "runtime/record/thread.h"

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

/* What the kernel counts of this process, in bytes; 0 if it does not say. */
static void count(rlim_t *space, rlim_t *data)
{
	/* pages: size, resident, shared, text, lib, data */
	rlim_t pages[6] = {0};
	char text[160];
	unsigned at = 0;
	long fd = SWZ_SYSCALL(SYS_open, "/proc/self/statm",
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

/* Whether the program may not have a hard limit as high as it wants: it has one
 * that is ours, and has not been allowed one that is so much higher again. */
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

/* Of another process nothing is known. */
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
