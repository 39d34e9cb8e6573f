/* build: -O2 */
/* Runs a program and delivers SIGUSR1 at every instruction, one after the
 * other, between the marks that the program sets (tests/targets/step.cc):
 * stepper PROGRAM [ARG...]
 * Or only counts the instructions between them (tests/targets/hook_path.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALL = 1, ONE = 2, STOP = 3, HANDLED = 4, HANDLER = 5, COUNT = 6 };
#define MAGIC 0x53544550

static pid_t child;
static struct user_regs_struct regs;
static unsigned long handler;

static void give_up(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	kill(child, SIGKILL);
	exit(99);
}

/* One processor for both, which take turns: another would have to be woken at
 * each step, which takes three times as long. */
static void share_processor(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* Goes on, with a signal or without, to the next stop; returns the signal that
 * stopped it. */
static int resume(int request, int signal)
{
	int status;

	if (ptrace(request, child, NULL, (void *)(long)signal) != 0)
		give_up("ptrace");
	if (waitpid(child, &status, 0) != child)
		give_up("waitpid");
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "stepper: killed by signal %d\n",
			WTERMSIG(status));
		exit(128 + WTERMSIG(status));
	}
	if (ptrace(PTRACE_GETREGS, child, NULL, &regs) != 0)
		give_up("registers");
	return WSTOPSIG(status);
}

static bool at_mark(int signal)
{
	return signal == SIGTRAP && (regs.rax & 0xffffffff) == MAGIC &&
	       (ptrace(PTRACE_PEEKTEXT, child, (void *)(regs.rip - 1), NULL) &
		0xff) == 0xcc;
}

/* Whether it has stopped as if it were still stepped. */
static bool is_step(int signal)
{
	siginfo_t info;

	return signal == SIGTRAP &&
	       ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 &&
	       info.si_code == TRAP_TRACE;
}

/* Until the next mark. Other signals are the program's own. */
static void run_to_mark(void)
{
	int pass = 0;

	for (;;) {
		int signal = resume(PTRACE_CONT, pass);

		if (at_mark(signal))
			return;
		if (is_step(signal))
			give_up("a step where it was let go");
		pass = signal == SIGTRAP ? 0 : signal;
	}
}

/* The handler runs; false: it has left by another way, up to a mark. Else up to
 * where it has brought us back: behind the system call that does that. */
static bool run_handler(void)
{
	unsigned long rip, rsp;

	run_to_mark();
	if (regs.rdi != HANDLED)
		return false;
	rip = regs.rsi, rsp = regs.rdx;
	do
		resume(PTRACE_SYSCALL, 0);
	while (regs.orig_rax != SYS_rt_sigreturn);
	resume(PTRACE_SYSCALL, 0);
	if (regs.rip != rip || regs.rsp != rsp)
		give_up("the handler has not come back");
	return true;
}

/* Steps; from instruction `first` on a signal is sent before each `every`-th,
 * `most` times. One that is blocked stays pending; the kernel says when it
 * comes. */
static void step_through(long first, long every, long most)
{
	bool pending = false, due = false;
	long n = 0;

	while (most) {
		bool send = due || (n >= first && n % every == 0 && !pending);
		int signal = resume(PTRACE_SINGLESTEP, send ? SIGUSR1 : 0);

		if (at_mark(signal))
			return;
		due = signal == SIGUSR1;
		if (signal != SIGTRAP && !due)
			give_up("an unexpected signal");
		n++;
		pending = pending || send;
		if (regs.rip != handler)
			continue;
		pending = false;
		most--;
		if (!run_handler())
			return;
		/* the instruction itself, without a signal */
		if (at_mark(resume(PTRACE_SINGLESTEP, 0)))
			return;
	}
	run_to_mark();
}

/* To the next mark, whose own int3 is not counted. */
static void count_steps(void)
{
	long n = 0;

	while (!at_mark(resume(PTRACE_SINGLESTEP, 0)))
		n++;
	fprintf(stderr, "%ld\n", n);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [ARG...]\n", argv[0]);
		return 2;
	}
	share_processor();
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		give_up("the program did not start");
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
	run_to_mark();
	for (;;) {
		if (regs.rdi == HANDLER) {
			handler = regs.rsi;
			run_to_mark();
		} else if (regs.rdi == ALL) {
			step_through(0, regs.rsi ? (long)regs.rsi : 1, -1);
		} else if (regs.rdi == ONE) {
			step_through((long)regs.rsi, 1, 1);
		} else if (regs.rdi == COUNT) {
			count_steps();
		} else {
			run_to_mark();
		}
	}
}
