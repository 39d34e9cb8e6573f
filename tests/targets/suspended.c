/* Always in the midst of something, until the file STOP is there: suspended
 * vfork STOP, its children have its memory, while it waits for them; fibers, it
 * changes between stacks of its own; fiber, it stays in one; calls, it makes
 * long system calls that do not wait; filter, under a filter of system calls
 * that permits all. Ends with 3 if all was right. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { FIBERS = 4, DEPTH = 5, STACK_BYTES = 65536, CALLS = 1000000 };
enum { ROOM_BYTES = 64 << 20 };

static ucontext_t first, fibers[FIBERS];
static volatile long calls;

__attribute__((noinline)) static long leaf(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

__attribute__((noinline)) static void descend(int fiber, int depth)
{
	if (depth) {
		descend(fiber, depth - 1);
		calls = leaf(calls);
	} else {
		swapcontext(&fibers[fiber], &first);
	}
	__asm__ volatile("");
}

static void run_fiber(int fiber)
{
	for (;;)
		descend(fiber, DEPTH);
}

/* Each round ends the one before. */
static int in_fibers(const char *stop)
{
	long rounds = 0;

	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		fibers[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&fibers[i], (void (*)(void))run_fiber, 1, i);
	}
	while (access(stop, F_OK) != 0)
		for (int i = 0; i < 100; i++, rounds++)
			for (int fiber = 0; fiber < FIBERS; fiber++)
				swapcontext(&first, &fibers[fiber]);
	return calls == (rounds - 1) * FIBERS * DEPTH ? 3 : 1;
}

static const char *stop_file;

static void stay(void)
{
	while (access(stop_file, F_OK) != 0)
		for (int i = 0; i < CALLS; i++)
			calls = leaf(calls);
}

static int in_fiber(const char *stop)
{
	stop_file = stop;
	getcontext(&fibers[0]);
	fibers[0].uc_stack.ss_sp = malloc(STACK_BYTES);
	fibers[0].uc_stack.ss_size = STACK_BYTES;
	fibers[0].uc_link = &first;
	makecontext(&fibers[0], stay, 0);
	swapcontext(&first, &fibers[0]);
	return calls % CALLS == 0 ? 3 : 1;
}

static int in_vfork(const char *stop)
{
	while (access(stop, F_OK) != 0) {
		int status;
		pid_t pid = vfork();

		if (!pid) {
			usleep(5000);
			_exit(7);
		}
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
			return 1;
		for (int i = 0; i < CALLS; i++)
			calls = leaf(calls);
	}
	return calls % CALLS == 0 ? 3 : 1;
}

/* In mprotect nearly all of the time: the pages of the room are there. */
static int in_calls(const char *stop)
{
	long rounds = 0;
	char *room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED ||
	    madvise(room, ROOM_BYTES, MADV_NOHUGEPAGE) != 0)
		return 1;
	memset(room, 1, ROOM_BYTES);
	for (; access(stop, F_OK) != 0; rounds++) {
		if (mprotect(room, ROOM_BYTES, PROT_READ) != 0 ||
		    mprotect(room, ROOM_BYTES, PROT_READ | PROT_WRITE) != 0)
			return 1;
		calls = leaf(calls);
	}
	return calls == rounds ? 3 : 1;
}

static int under_filter(const char *stop)
{
	struct sock_filter allow = {0x06, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	while (access(stop, F_OK) != 0)
		usleep(10000);
	return 3;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (strcmp(what, "fibers") == 0)
		return in_fibers(argv[2]);
	if (strcmp(what, "fiber") == 0)
		return in_fiber(argv[2]);
	if (strcmp(what, "vfork") == 0)
		return in_vfork(argv[2]);
	if (strcmp(what, "calls") == 0)
		return in_calls(argv[2]);
	return strcmp(what, "filter") == 0 ? under_filter(argv[2]) : 2;
}
