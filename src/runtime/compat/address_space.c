/* What we map counts where a program limits its own address space, or what of
 * it is private and writable (RLIMIT_DATA since Linux 4.7), and is more than
 * most such limits: the program would be refused memory that it has without us.
 * So its limit is made so much higher, and what it reads of it so much lower.
 */

#include "runtime/compat/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/syscall.h"
#include "runtime/record/file.h"
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

/* By how much; 0: we have no part in it. */
static rlim_t share_of(int what)
{
	rlim_t file = swz_file_mapped_bytes();
	rlim_t links = file / SWZ_UNIT_BYTES * sizeof(struct swz_links);

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

/* A system call of our own leaves errno alone, if we may make one. */
static bool set(int what, const struct rlimit *limit, setter *real)
{
	if (swz_system_calls_end)
		return real(what, limit) == 0;
	return SWZ_SYSCALL(SYS_prlimit64, 0, what, limit, NULL) == 0;
}

int swz_limit_set(int what, const struct rlimit *wanted, const void *unused,
		  setter *real);
int swz_limit_set(int what, const struct rlimit *wanted, const void *unused,
		  setter *real)
{
	rlim_t share = share_of(what);
	struct latest *latest = latest_of(what);
	struct rlimit ours;

	(void)unused;
	if (!share || !is_readable(wanted) ||
	    wanted->rlim_cur > wanted->rlim_max)
		return real(what, wanted);
	ours.rlim_cur = higher(wanted->rlim_cur, share);
	ours.rlim_max = higher(wanted->rlim_max, share);
	if (!set(what, &ours, real)) {
		/* a hard limit of another's may not be raised */
		ours.rlim_max = wanted->rlim_max;
		if (ours.rlim_cur > ours.rlim_max)
			ours.rlim_cur = ours.rlim_max;
		if (!set(what, &ours, real))
			return real(what, wanted);
	}
	latest[0].ours = ours.rlim_cur;
	latest[0].theirs = wanted->rlim_cur;
	latest[1].ours = ours.rlim_max;
	latest[1].theirs = wanted->rlim_max;
	return 0;
}

int swz_limit_get(int what, struct rlimit *limit, const void *unused,
		  int (*real)(int what, struct rlimit *limit));
int swz_limit_get(int what, struct rlimit *limit, const void *unused,
		  int (*real)(int what, struct rlimit *limit))
{
	const struct latest *latest = latest_of(what);
	rlim_t share = share_of(what);
	int result = real(what, limit);

	(void)unused;
	if (result == 0 && share) {
		limit->rlim_cur = lower(&latest[0], limit->rlim_cur, share);
		limit->rlim_max = lower(&latest[1], limit->rlim_max, share);
	}
	return result;
}
