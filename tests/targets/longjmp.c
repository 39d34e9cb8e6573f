/* build: -O2 -fno-optimize-sibling-calls -fno-inline -fno-ipa-cp */
/* longjmp out of hooked frames:
 * longjmp frames|reenter|signal|altstack|mask|next */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int altstack(void)
{
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};

	sigaltstack(&stack, NULL);
	handle(on_signal, SA_ONSTACK);
	return jump_out_of_handlers(10000);
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

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "frames";
	long sum = 0;

	if (!strcmp(mode, "frames"))
		return frames();
	if (!strcmp(mode, "altstack"))
		return altstack();
	if (!strcmp(mode, "mask"))
		return mask();
	if (!strcmp(mode, "signal")) {
		handle(on_signal, 0);
		return jump_out_of_handlers(10000);
	}
	for (int i = 0; i < 1000; i++)
		sum += !strcmp(mode, "next") ? just_above(i) : descend(20);
	printf("%ld\n", sum);
	return 0;
}
