#include "watch/interrupted_call.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "watch/proc_task.h"

#define SYSCALL_BYTES 2u

/* The kernel's own, which a stopped thread's registers show. */
enum {
	ERESTARTSYS_ = 512,
	ERESTARTNOINTR_ = 513,
	ERESTARTNOHAND_ = 514,
	ERESTART_RESTARTBLOCK_ = 516,
	SYS_RESTART = 219
};

bool swz_call_makes_again(const struct user_regs_struct *r,
			  struct user_regs_struct *again)
{
	if ((int64_t)r->orig_rax < 0)
		return false;
	*again = *r;
	switch (-(int64_t)r->rax) {
	case EINTR: /* epoll_wait and others: a stop is no signal */
		if (r->orig_rax == SYS_close)
			return false;
		again->rax = r->orig_rax;
		break;
	case ERESTARTSYS_:
	case ERESTARTNOINTR_:
	case ERESTARTNOHAND_:
		again->rax = r->orig_rax;
		break;
	case ERESTART_RESTARTBLOCK_:
		again->rax = SYS_RESTART;
		break;
	default:
		return false;
	}
	again->rip -= SYSCALL_BYTES;
	again->orig_rax = UINT64_MAX;
	return true;
}

void swz_call_restart(int32_t pid, int32_t tid,
		      const struct user_regs_struct *r)
{
	struct user_regs_struct again;

	if ((int64_t)r->rax == -EINTR && !swz_proc_task_has_signal(pid, tid) &&
	    swz_call_makes_again(r, &again))
		(void)ptrace(PTRACE_SETREGS, tid, NULL, &again);
}
