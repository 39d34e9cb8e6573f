/* build: -O1 -pthread -fno-inline -fno-optimize-sibling-calls
 * -fno-ipa-pure-const -fno-ipa-cp */
/* Stacks that end: stacks overflow|smallest|vfork|protected|handler [N] */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory.h"

static volatile long sink, deepest;
static sigjmp_buf back;

long work(long n)
{
	sink = n;
	return n + 1;
}

long dive(long depth)
{
	volatile char room[256];

	room[depth % 256] = (char)depth;
	deepest = depth;
	return dive(depth + 1) + room[depth % 256];
}

static void on_fault(int number)
{
	work(number);
	siglongjmp(back, 1);
}

/* The stack overflows, is left by a jump from the alternate stack, and so on.
 */
long overflow(long times)
{
	volatile long caught = 0;

	for (volatile long i = 0; i < times; i++)
		if (!sigsetjmp(back, 1))
			dive(0);
		else
			caught += work(1) == 2 && deepest > 100;
	return caught;
}

static void use_other_stack(void)
{
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action = {.sa_handler = on_fault,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

static void *overflow_in_thread(void *times)
{
	use_other_stack();
	return (void *)overflow((long)times);
}

/* Less than a thread's smallest stack has room for, even so. */
long nest(long n)
{
	volatile char room[64];

	room[0] = (char)n;
	return n ? nest(n - 1) + room[0] : work(n);
}

static void *small_thread(void *argument)
{
	return (void *)nest((long)argument);
}

static void *run(void *(*function)(void *), long argument, size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, stack_bytes) != 0 ||
	    pthread_create(&thread, &attributes, function, (void *)argument) !=
		    0) {
		puts("no thread");
		exit(1);
	}
	pthread_join(thread, &result);
	return result;
}

/* Where a thread calls anything that is hooked for the first time, in the
 * handler of a signal on a stack of its own: how much of that is used. */
static char *signal_stack;
static uintptr_t plain_frame;
enum { SIGNAL_STACK = 1 << 16, FILL = 0x5a };

static void plain_handler(int number)
{
	plain_frame = (uintptr_t)__builtin_frame_address(0);
	work(number);
}

static void *plain_thread(void *argument)
{
	struct sigaction action = {.sa_handler = plain_handler,
				   .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK};
	uintptr_t lowest = (uintptr_t)signal_stack;

	memset(signal_stack, FILL, SIGNAL_STACK);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	while (*(char *)lowest == FILL)
		lowest++;
	if (plain_frame - lowest > 1024)
		printf("%ld bytes\n", (long)(plain_frame - lowest));
	return argument;
}

/* The child runs in the parent's frames, calls, and ends itself. */
long vfork_and_exit(long n)
{
	int status = 0;
	pid_t pid = vfork();

	if (!pid) {
		work(n);
		_exit((int)(n % 100));
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* Frames of the first stack are suspended, and never come back: another context
 * goes on above them. Then their memory is made inaccessible. */
static ucontext_t first, below, coroutine;
static uintptr_t lowest;
static volatile int stage;

long descend(long depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	if (depth)
		return descend(depth - 1) + room[0];
	lowest = (uintptr_t)room;
	return swapcontext(&below, &coroutine);
}

long yield(void)
{
	return work(swapcontext(&coroutine, &first));
}

static void run_coroutine(void)
{
	stage = 1;
	yield();
	stage = 2;
	setcontext(&first);
}

static long protect_below(long n)
{
	static char stack[1 << 16];
	uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - (1 << 16)) &
			-4096l;
	long sum = 0;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&first, &coroutine);
	if (stage == 1)
		descend(n);
	lowest &= -4096l;
	if (mprotect((void *)lowest, end - lowest, PROT_NONE) != 0)
		return -1;
	usleep(20000); /* as a sweep may take a part of the time only */
	for (int i = 0; i < 100; i++)
		sum += nest(i);
	return sum;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "overflow";
	long n = argc > 2 ? atol(argv[2]) : 10;
	long code = 0, sum = 0;

	if (!strcmp(mode, "overflow")) {
		use_other_stack();
		printf("%ld\n", overflow(2));
		code = made_code_kb();
		printf("%ld\n", overflow(n - 2));
		say_code_growth(code, 2048);
	} else if (!strcmp(mode, "overflow-thread")) {
		printf("%ld\n", (long)run(overflow_in_thread, n, 1 << 20));
	} else if (!strcmp(mode, "smallest")) {
		for (long i = 0; i < n; i++)
			sum += (long)run(small_thread, 5,
					 (size_t)PTHREAD_STACK_MIN);
		printf("%ld\n", sum);
	} else if (!strcmp(mode, "handler")) {
		signal_stack = malloc(SIGNAL_STACK);
		for (long i = 0; i < n; i++)
			sum += (long)run(plain_thread, i, 1 << 16);
		printf("%ld\n", sum);
	} else if (!strcmp(mode, "vfork")) {
		for (long i = 0; i < n; i++)
			sum += vfork_and_exit(i) == i % 100;
		printf("%ld\n", sum);
	} else if (!strcmp(mode, "protected")) {
		printf("%ld\n", protect_below(n));
	} else {
		return 2;
	}
	return 0;
}
