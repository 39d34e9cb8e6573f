/* build: -O2 -pthread -fno-inline -fno-ipa-cp -fno-ipa-pure-const */
/* Forks where the latest frame is not what lies next on the stack: fork_places
 * PLACE. The child calls child_work from there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile long sink;

long child_work(long n)
{
	sink = n;
	return n + 2;
}

#define INLINE static inline __attribute__((always_inline))

INLINE void wait_for(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		exit(1);
	printf("%d\n", WEXITSTATUS(status));
}

INLINE void fork_here(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 10; i++)
			child_work(i);
		_exit(7);
	}
	wait_for(pid);
}

/* A frame of its own that is far below its caller's, and large. */
void far_place(void)
{
	volatile char room[256 << 10];

	room[0] = room[sizeof(room) - 1] = 1;
	fork_here();
	sink = room[0];
}

void signal_place(int signal)
{
	(void)signal;
	fork_here();
	sink = 1;
}

/* What the child calls first is jumped to. */
void jumped_to(pid_t pid)
{
	if (!pid) {
		for (int i = 0; i < 10; i++)
			child_work(i);
		_exit(7);
	}
	wait_for(pid);
}

void jump_place(void)
{
	pid_t pid = fork();

	sink = pid;
	jumped_to(pid);
}

/* A child that locks its memory before it calls anything. */
void locked_place(void)
{
	pid_t pid = fork();

	if (!pid) {
		if (syscall(SYS_mlockall, MCL_CURRENT) != 0)
			_exit(8);
		for (int i = 0; i < 10; i++)
			child_work(i);
		_exit(7);
	}
	wait_for(pid);
}

static ucontext_t at_home, elsewhere;

void fiber_place(void)
{
	fork_here();
	sink = 2;
}

/* Frames that began later than those of who forks, and wait. */
void wait_elsewhere(int depth)
{
	if (depth)
		wait_elsewhere(depth - 1);
	else
		swapcontext(&elsewhere, &at_home);
	sink = depth;
}

void waiting_entry(void)
{
	wait_elsewhere(5);
}

static void begin_fiber(void (*entry)(void))
{
	static char stack[256 << 10];

	getcontext(&elsewhere);
	elsewhere.uc_stack.ss_sp = stack;
	elsewhere.uc_stack.ss_size = sizeof(stack);
	elsewhere.uc_link = &at_home;
	makecontext(&elsewhere, entry, 0);
	swapcontext(&at_home, &elsewhere);
}

void waiting_place(void)
{
	begin_fiber(waiting_entry);
	fork_here();
	swapcontext(&at_home, &elsewhere);
	sink = 3;
}

static void *thread_place(void *argument)
{
	far_place();
	return argument;
}

int main(int argc, char **argv)
{
	const char *place = argc > 1 ? argv[1] : "";

	if (!strcmp(place, "far_place")) {
		far_place();
	} else if (!strcmp(place, "jump_place")) {
		jump_place();
	} else if (!strcmp(place, "locked_place")) {
		locked_place();
	} else if (!strcmp(place, "signal_place")) {
		static char stack[256 << 10];
		stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
		struct sigaction action = {.sa_handler = signal_place,
					   .sa_flags = SA_ONSTACK};

		sigaltstack(&alternate, NULL);
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
	} else if (!strcmp(place, "fiber_place")) {
		begin_fiber(fiber_place);
	} else if (!strcmp(place, "waiting_place")) {
		waiting_place();
	} else if (!strcmp(place, "thread_place")) {
		pthread_t thread;

		pthread_create(&thread, NULL, thread_place, NULL);
		pthread_join(thread, NULL);
	} else {
		return 2;
	}
	return 3;
}
