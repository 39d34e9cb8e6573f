#include "runtime/compat/confinement.h"

#include <string.h>
#include <sys/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/record/file_extent.h"

#ifndef SYS_landlock_restrict_self /* Linux 5.13 */
#define SYS_landlock_restrict_self 446
#endif
#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

const enum swz_confining swz_by_prctl = SWZ_BY_PRCTL,
			 swz_by_syscall = SWZ_BY_SYSCALL,
			 swz_leaves_files = SWZ_LEAVES_FILES;

enum change { NOTHING, FILES, FILTER, NO_SYSTEM_CALLS, NO_CLOCK };

/* What the kernel takes for 32 bits is so here, too: a register's upper half
 * may be anything then (SysV ABI 3.2.3).
 *
 * Strict mode forbids the time stamp counter, too. A filter of NULL only asks
 * whether filters are to be had. Where a thread has its system calls
 * dispatched, each from outside of a range of the program's choice is a SIGSYS
 * for it, when it likes: to its handler ours would be the program's, and with
 * signals blocked they end it. */
static enum change by_prctl(int option, long mode, long filter)
{
	if (option == PR_SET_TSC && (int)mode == PR_TSC_SIGSEGV)
		return NO_CLOCK;
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		return mode == PR_SYS_DISPATCH_OFF ? NOTHING : NO_SYSTEM_CALLS;
	if (option != PR_SET_SECCOMP)
		return NOTHING;
	if (mode == SECCOMP_MODE_STRICT)
		return NO_CLOCK;
	return filter ? FILTER : NOTHING;
}

/* Libraries find out what a kernel can do (libseccomp does at its first use) by
 * requests that are refused for what they ask: strict mode with flags, a filter
 * of NULL. */
static enum change by_seccomp(int operation, int flags, long filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return flags || filter ? NOTHING : NO_CLOCK;
	if (operation == SECCOMP_SET_MODE_FILTER)
		return filter ? FILTER : NOTHING;
	return NOTHING;
}

/* The kernel takes it for a set of signals, which are blocked for a moment. */
static bool is_readable(uintptr_t address)
{
	uint64_t before;

	return SWZ_SYSCALL(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, address,
			   &before, 8) == 0 &&
	       SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before,
			   NULL, 8) == 0;
}

/* From where the program says that it is; false: it is not there, or that
 * cannot be known. Both sides have whole words. */
static bool copy(void *to, uintptr_t from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8) {
		if ((!at || (from + at + 7) % 4096 < 8) &&
		    !is_readable(from + at))
			return false;
		memcpy((char *)to + at, (const char *)from + at, 8);
	}
	return true;
}

/* Keeps a copy, since the program may do with its own what it likes. If the
 * kernel does not take the filter after all, we have a rule more than it. */
static bool keep_filter(uintptr_t from)
{
	struct sock_fprog program;
	struct sock_filter *code;
	size_t bytes;

	if (!copy(&program, from, sizeof(program)) || !program.len)
		return false;
	bytes = program.len * sizeof(*code);
	code = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!code || !copy(code, (uintptr_t)program.filter, bytes))
		return false;
	swz_sys_add_filter(code, program.len);
	return true;
}

/* The identity that files are opened with, what they are looked up in, and how
 * long they may be. */
static const int leaving[] = {
	SYS_setuid,    SYS_setreuid,  SYS_setresuid,
	SYS_setfsuid,  SYS_setgid,    SYS_setregid,
	SYS_setresgid, SYS_setfsgid,  SYS_setgroups,
	SYS_capset,    SYS_chroot,    SYS_pivot_root,
	SYS_unshare,   SYS_setns,     SYS_landlock_restrict_self,
	SYS_setrlimit, SYS_prlimit64,
};

static enum change by_system_call(int number, long first, long second,
				  long third)
{
	if (number == SYS_prctl)
		return by_prctl((int)first, second, third);
	if (number == SYS_seccomp)
		return by_seccomp((int)first, (int)second, third);
	for (unsigned i = 0; i < sizeof(leaving) / sizeof(*leaving); i++)
		if (number == leaving[i])
			return FILES;
	return NOTHING;
}

static enum change change_of(enum swz_confining which, long first, long second,
			     long third, long fourth)
{
	switch (which) {
	case SWZ_BY_PRCTL:
		return by_prctl((int)first, second, third);
	case SWZ_BY_SYSCALL:
		return by_system_call((int)first, second, third, fourth);
	case SWZ_LEAVES_FILES:
		break;
	}
	return FILES;
}

void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which);
void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which)
{
	const long filter = *which == SWZ_BY_PRCTL ? third : fourth;
	enum change change = change_of(*which, first, second, third, fourth);

	if (change == NOTHING || !swz_recording)
		return;
	swz_extent_reach_all();
	if (change == FILES)
		return;
	if (change != FILTER || !keep_filter((uintptr_t)filter))
		swz_sys_end_all();
	if (!swz_system_calls_end)
		swz_hooks_go_quiet();
	if (change == NO_CLOCK)
		swz_hooks_stop();
}
