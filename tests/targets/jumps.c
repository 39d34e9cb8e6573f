/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const */
/* A function that never returns but jumps to its caller, and what is called at
 * the same place afterwards:
 *   main -> 10 jumper -> 1 inner
 *        -> 10 after -> 1 inner */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;
static volatile long sink;

long inner(long n)
{
	sink = n;
	return n + 1;
}

void jumper(int n)
{
	sink = inner(n);
	longjmp(env, 1);
}

long after(long n)
{
	sink = n;
	return inner(n);
}

int main(void)
{
	volatile long sum = 0;

	for (volatile int i = 0; i < 10; i++) {
		if (!setjmp(env))
			jumper(i);
		sum += after(i);
	}
	printf("%ld\n", sum);
	return 0;
}
