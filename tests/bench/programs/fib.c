/* Naive recursion: nothing but calls. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone, noipa)) static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += fib(32);
	printf("%ld\n", sum);
	return 0;
}
