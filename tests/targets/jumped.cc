// build: -O2
// Functions that have been jumped to, by others that have been jumped to, and
// what becomes of their frames: a longjmp comes back to them, an exception
// leaves them, they switch stacks, they go on in a forked child. Prints what it
// has done.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP extern "C" __attribute__((noipa))
enum { TIMES = 3000, SWITCHES = 300 };

static volatile long sink;
static jmp_buf back;
static ucontext_t home, fiber;
static char stack[1 << 16];

KEEP void after_longjmp()
{
	sink = sink + 1;
}
KEEP void jumper()
{
	longjmp(back, 1);
}
KEEP void last_longjmp()
{
	if (setjmp(back) == 0)
		jumper();
	after_longjmp();
	sink = sink + 1;
}

KEEP void thrower()
{
	throw 1;
}
KEEP void last_throw()
{
	thrower();
	sink = sink + 1;
}

KEEP void in_fiber()
{
	sink = sink + 1;
}
KEEP void after_switch()
{
	sink = sink + 1;
}
static void fiber_main()
{
	for (;;) {
		in_fiber();
		swapcontext(&fiber, &home);
	}
}
KEEP void last_switch(int)
{
	swapcontext(&home, &fiber);
	after_switch();
	sink = sink + 1;
}

KEEP void in_child()
{
	sink = sink + 1;
}
KEEP void in_parent()
{
	sink = sink + 1;
}
KEEP void last_fork(int n)
{
	if (n == TIMES - 1 && fork() == 0) {
		for (int i = 0; i < 10; i++)
			in_child();
		_exit(0);
	}
	in_parent();
	sink = sink + 1;
}

#define JUMPS(what, parameters, arguments) \
	KEEP void second_##what parameters \
	{ \
		sink = sink + 1; \
		last_##what arguments; \
	} \
	KEEP void first_##what parameters \
	{ \
		sink = sink + 1; \
		second_##what arguments; \
	}
JUMPS(longjmp, (), ())
JUMPS(throw, (), ())
JUMPS(switch, (int n), (n))
JUMPS(fork, (int n), (n))

int main()
{
	int caught = 0, status;

	for (int i = 0; i < TIMES; i++)
		first_longjmp();
	for (int i = 0; i < TIMES; i++)
		try {
			first_throw();
		} catch (int n) {
			caught += n;
		}
	for (int i = 0; i < TIMES; i++)
		first_fork(i);
	wait(&status);
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	makecontext(&fiber, fiber_main, 0);
	for (int i = 0; i < SWITCHES; i++)
		first_switch(i);
	printf("%ld %d %d\n", sink, caught, status);
	return 0;
}
