#include "runtime/compat/confinement.h"

#include <sys/prctl.h>
#include <linux/seccomp.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

const enum swz_confining swz_by_prctl = SWZ_BY_PRCTL,
			 swz_by_syscall = SWZ_BY_SYSCALL;

enum change { NOTHING, NO_SYSTEM_CALLS, NO_CLOCK };

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
	return filter ? NO_SYSTEM_CALLS : NOTHING;
}

/* Libraries find out what a kernel can do (libseccomp does at its first use) by
 * requests that are refused for what they ask: strict mode with flags, a filter
 * of NULL. */
static enum change by_seccomp(int operation, int flags, long filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return flags || filter ? NOTHING : NO_CLOCK;
	if (operation == SECCOMP_SET_MODE_FILTER)
		return filter ? NO_SYSTEM_CALLS : NOTHING;
	return NOTHING;
}

static enum change by_system_call(int number, long first, long second,
				  long third)
{
	if (number == SYS_prctl)
		return by_prctl((int)first, second, third);
	if (number == SYS_seccomp)
		return by_seccomp((int)first, (int)second, third);
	return NOTHING;
}

void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which);
void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which)
{
	enum change change = *which == SWZ_BY_PRCTL
				     ? by_prctl((int)first, second, third)
				     : by_system_call((int)first, second, third,
						      fourth);

	if (change == NOTHING || !swz_recording)
		return;
	if (!swz_system_calls_end)
		swz_hooks_go_quiet();
	if (change == NO_CLOCK)
		swz_hooks_stop();
}
