/* build: -O2 -pthread -fno-optimize-sibling-calls -fno-inline -fno-ipa-cp */
/* longjmp out of hooked frames:
 * longjmp
 * frames|reenter|signal|altstack|above|mask|next|threads|elsewhere|depths
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory.h"

static jmp_buf back;
static sigjmp_buf sigback;
static volatile long sink;

long dive(long depth)
{
	if (!depth)
		longjmp(back, 1);
	sink = depth;
	return dive(depth - 1) + 1;
}

void jump_from(long depth)
{
	if (!setjmp(back))
		dive(depth);
}

long leaf(long n)
{
	sink = n;
	return n + 1;
}

static int frames(void)
{
	long before, sum = 0;

	for (int i = 0; i < 1000; i++)
		jump_from(49);
	before = resident_kb();
	for (int i = 0; i < 99000; i++) {
		jump_from(49);
		sum += leaf(i);
	}
	printf("%ld\n", sum);
	say_growth(before, 4096);
	return 0;
}

/* A generator that is left and entered again, with a jump out at each level. */
long descend(long depth)
{
	jmp_buf saved;
	long result;

	memcpy(&saved, &back, sizeof(saved));
	if (!setjmp(back))
		result = dive(3);
	else
		result = depth ? descend(depth - 1) + leaf(depth) : 0;
	memcpy(&back, &saved, sizeof(back));
	return result;
}

/* The jump lands in the frame that called the one that jumps. */
void jump_at_once(void)
{
	longjmp(back, 1);
}

long just_above(long n)
{
	if (!setjmp(back))
		jump_at_once();
	return leaf(n);
}

static void on_signal(int number)
{
	sink = number;
	dive(5);
}

static void on_signal_mask(int number)
{
	sink = leaf(number);
	siglongjmp(sigback, 1);
}

long raise_below(long depth)
{
	if (!depth)
		raise(SIGUSR1);
	else
		sink = raise_below(depth - 1);
	return depth;
}

static void handle(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = flags | SA_NODEFER};

	sigaction(SIGUSR1, &action, NULL);
}

static __attribute__((noipa)) int jump_out_of_handlers(int rounds)
{
	volatile long sum = 0;
	volatile long before = 0;

	for (volatile int i = 0; i < rounds; i++) {
		if (i == rounds / 10)
			before = resident_kb();
		if (!setjmp(back))
			raise_below(10);
		else
			sum += leaf(i);
	}
	printf("%ld\n", sum);
	say_growth(before, 4096);
	return 0;
}

static void *on_alternate_stack(void *memory)
{
	stack_t stack = {.ss_sp = memory, .ss_size = 1 << 16};

	sigaltstack(&stack, NULL);
	handle(on_signal, SA_ONSTACK);
	jump_out_of_handlers(10000);
	return NULL;
}

static int altstack(void)
{
	on_alternate_stack(malloc(1 << 16));
	return 0;
}

/* The alternate stack lies above the thread's own. */
static int above(void)
{
	size_t bytes = 1 << 20;
	char *both = mmap(NULL, bytes + (1 << 16), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, both, bytes);
	if (both == MAP_FAILED ||
	    pthread_create(&thread, &attributes, on_alternate_stack,
			   both + bytes) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

static int mask(void)
{
	volatile long sum = 0;
	struct sigaction action = {.sa_handler = on_signal_mask};
	sigset_t now;

	sigaction(SIGUSR1, &action, NULL);
	for (volatile int i = 0; i < 10000; i++) {
		if (!sigsetjmp(sigback, 1))
			raise_below(10);
		sum += leaf(i);
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("%ld %d\n", sum, sigismember(&now, SIGUSR1));
	return 0;
}

static void *just_above_once(void *sum)
{
	*(long *)sum += just_above(1);
	return NULL;
}

/* One after the other, on two stacks with nothing between them. */
static int threads(void)
{
	size_t bytes = 1 << 20;
	char *memory = mmap(NULL, 3 * bytes, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	long sum = 0;

	pthread_attr_init(&attributes);
	for (int i = 0; i < 200; i++) {
		char *stack = memory + (size_t)(i % 2) * 2 * bytes;
		pthread_t thread;

		if (mprotect(stack, bytes, PROT_READ | PROT_WRITE) != 0 ||
		    pthread_attr_setstack(&attributes, stack, bytes) != 0 ||
		    pthread_create(&thread, &attributes, just_above_once,
				   &sum) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%ld\n", sum);
	return 0;
}

/* On a stack of its own, as code that is compiled with -fsplit-stack goes on.
 */
static char other_stack[1 << 20];
static int other_depth;

void on_other_stack(void)
{
	dive(other_depth);
}

void go_elsewhere(long depth)
{
	ucontext_t other, here;

	sink = depth;
	if (depth) {
		go_elsewhere(depth - 1);
		return;
	}
	getcontext(&other);
	other.uc_stack.ss_sp = other_stack;
	other.uc_stack.ss_size = sizeof(other_stack);
	other.uc_link = NULL;
	makecontext(&other, on_other_stack, 0);
	swapcontext(&here, &other);
}

static __attribute__((noipa)) int jump_back(void)
{
	volatile long sum = 0;

	for (volatile int i = 0; i < 1000; i++) {
		other_depth = i * 13 % 300;
		if (!setjmp(back))
			go_elsewhere(3);
		else
			sum += leaf(i);
	}
	printf("%ld\n", sum);
	return 0;
}

/* Landings at another depth than the last: one of 40 in turn. */
long land(long depth)
{
	volatile char room[48];

	room[0] = 0;
	if (depth)
		return land(depth - 1) + room[0];
	if (!setjmp(back))
		return dive(2);
	return leaf(1);
}

static void at_depths(void)
{
	for (long i = 0; i < 4000; i++)
		land(i % 40);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "frames";
	long sum = 0;

	if (!strcmp(mode, "frames"))
		return frames();
	if (!strcmp(mode, "depths")) {
		at_depths();
		printf("%ld\n", sink);
		return 0;
	}
	if (!strcmp(mode, "altstack"))
		return altstack();
	if (!strcmp(mode, "above"))
		return above();
	if (!strcmp(mode, "mask"))
		return mask();
	if (!strcmp(mode, "threads"))
		return threads();
	if (!strcmp(mode, "elsewhere"))
		return jump_back();
	if (!strcmp(mode, "signal")) {
		handle(on_signal, 0);
		return jump_out_of_handlers(10000);
	}
	for (int i = 0; i < 1000; i++)
		sum += !strcmp(mode, "next") ? just_above(i) : descend(20);
	printf("%ld\n", sum);
	return 0;
}
