#include "runtime/support/raw_thread.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>

#include "base/syscall.h"

/* The number behind `name` in the process's status; -1 if that is not to be
 * found out. */
static int status_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	if (!at)
		return -1;
	at += strlen(name);
	while (*at == '\t' || *at == ' ')
		at++;
	return *at >= '0' && *at <= '9' ? *at - '0' : -1;
}

bool swz_raw_threads_may_be(void)
{
	char status[4096];
	long fd = SWZ_SYSCALL(SYS_open, "/proc/self/status",
			      O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return false;
	n = SWZ_SYSCALL(SYS_read, fd, status, sizeof(status) - 1);
	SWZ_SYSCALL(SYS_close, fd);
	status[n > 0 ? n : 0] = '\0';
	return status_of(status, "\nTracerPid:") == 0 &&
	       status_of(status, "\nSeccomp:") == 0;
}

/* Returns in the caller only. */
static long make(char *stack_top, _Atomic uint32_t *alive,
		 void (*function)(void *), void *argument)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		     CLONE_CHILD_CLEARTID | CLONE_UNTRACED;
	register long r10 __asm__("r10") = (long)alive;
	register long r8 __asm__("r8") = 0;
	long result;

	if (swz_system_calls_end)
		return -EPERM;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %[argument], %%rdi\n\t"
			 "call *%[function]\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_top),
			   "d"(alive), "r"(r10),
			   "r"(r8), [argument] "r"(argument),
			   [function] "r"(function), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return result;
}

bool swz_raw_thread_start(struct swz_raw_thread *thread, char *stack_top,
			  void (*function)(void *), void *argument)
{
	thread->id = make(stack_top, &thread->alive, function, argument);
	return thread->id > 0;
}

void swz_raw_thread_wait(struct swz_raw_thread *thread)
{
	long process = SWZ_SYSCALL(SYS_getpid);
	uint32_t alive;

	/* not private to the process: as the kernel wakes */
	while ((alive = atomic_load(&thread->alive)) != 0)
		SWZ_SYSCALL(SYS_futex, &thread->alive, FUTEX_WAIT, alive, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		if (SWZ_SYSCALL(SYS_tgkill, process, thread->id, 0) == -ESRCH)
			break;
		SWZ_SYSCALL(SYS_sched_yield);
	}
}
