#include "base/syscall.h"

#include <linux/audit.h>
#include <stdatomic.h>

#include "base/call_filter.h"

bool swz_system_calls_end;
bool swz_memory_is_locked;

#define MOST_FILTERS 16u

static struct {
	_Atomic(const struct sock_filter *) code; /* NULL: not yet known */
	uint32_t length;
} filters[MOST_FILTERS];

static _Atomic uint32_t filter_count;
static _Atomic bool none_pass;

void swz_sys_end_all(void)
{
	atomic_store(&none_pass, true);
}

void swz_sys_add_filter(const struct sock_filter *code, uint32_t length)
{
	uint32_t at = atomic_fetch_add(&filter_count, 1);

	if (at >= MOST_FILTERS) {
		swz_sys_end_all();
		return;
	}
	filters[at].length = length;
	atomic_store(&filters[at].code, code);
}

/* What a thread needs to get memory and to go on. What has to do with files,
 * with a forked child's profile or a library that is loaded is many calls, of
 * which none should be made where another would fail. */
static bool is_for_memory(long number)
{
	switch (number) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise:
	case SYS_clock_gettime: /* makes pages present, too */
	case SYS_rt_sigprocmask:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_tgkill:
	case SYS_prctl:
	case SYS_sched_yield:
	case SYS_process_vm_readv:
		return true;
	default:
		return false;
	}
}

bool swz_sys_passes(long number, long a, long b, long c, long d, long e, long f)
{
	const struct seccomp_data call = {
		.nr = (int)number,
		.arch = AUDIT_ARCH_X86_64,
		.args = {(uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d,
			 (uint64_t)e, (uint64_t)f},
	};
	uint32_t count = atomic_load(&filter_count);

	if (!count || atomic_load(&none_pass) || !is_for_memory(number))
		return false;
	for (uint32_t i = 0; i < count && i < MOST_FILTERS; i++) {
		const struct sock_filter *code = atomic_load(&filters[i].code);

		if (!code ||
		    !swz_call_filter_allows(code, filters[i].length, &call))
			return false;
	}
	return true;
}
