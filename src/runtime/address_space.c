/* What we map counts where a program limits its own address space, and is more
 * than most such limits: the program would be refused memory that it has
 * without us. So its limit is made so much higher, and what it reads of it so
 * much lower. */

#include "runtime/address_space.h"

#include <stdint.h>
#include <sys/resource.h>

#include "runtime/file.h"

/* The arena, tables, trampolines, threads' states. */
#define OURS (UINT64_C(768) << 20)

/* The profile, the links of its nodes, and a forked child's beside it. */
#define FILES 3

/* The kernel counts in pages, and limits are whole KiB: what is below tells a
 * limit of ours, also to what this process executes. */
#define UNIT UINT64_C(1024)
#define MARK UINT64_C(0x2f5)

/* The latest of this process, soft and hard. */
static struct {
	rlim_t ours, theirs;
} latest[2];

static rlim_t share(void)
{
	return OURS + FILES * swz_file_mapped_bytes();
}

static rlim_t higher(rlim_t limit)
{
	return limit < RLIM_INFINITY - share() - UNIT
		       ? (limit & -UNIT) + share() + MARK
		       : limit;
}

static rlim_t lower(unsigned which, rlim_t limit)
{
	if (latest[which].ours && limit == latest[which].ours)
		return latest[which].theirs;
	return limit % UNIT == MARK && limit - MARK >= share()
		       ? limit - MARK - share()
		       : limit;
}

int swz_limit_set(int what, const struct rlimit *wanted, const void *unused,
		  int (*real)(int what, const struct rlimit *limit));
int swz_limit_set(int what, const struct rlimit *wanted, const void *unused,
		  int (*real)(int what, const struct rlimit *limit))
{
	struct rlimit ours;

	(void)unused;
	if (what != RLIMIT_AS || !wanted || wanted->rlim_cur > wanted->rlim_max)
		return real(what, wanted);
	ours.rlim_cur = higher(wanted->rlim_cur);
	ours.rlim_max = higher(wanted->rlim_max);
	if (real(what, &ours) != 0) {
		/* a hard limit of another's may not be raised */
		ours.rlim_max = wanted->rlim_max;
		if (ours.rlim_cur > ours.rlim_max)
			ours.rlim_cur = ours.rlim_max;
		if (real(what, &ours) != 0)
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
	int result = real(what, limit);

	(void)unused;
	if (result == 0 && what == RLIMIT_AS) {
		limit->rlim_cur = lower(0, limit->rlim_cur);
		limit->rlim_max = lower(1, limit->rlim_max);
	}
	return result;
}
