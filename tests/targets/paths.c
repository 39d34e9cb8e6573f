/* Paths of which some lead to goal(), as often as is said (1): for --caller. */

#include <stdlib.h>

#define PLAIN __attribute__((noinline, noclone))

static volatile long sink;

static void burn(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

PLAIN long under(long n)
{
	burn(1000);
	return n + sink;
}

PLAIN long goal(long n)
{
	burn(2000);
	return under(n) + under(n + 1) + 1;
}

PLAIN long other(long n)
{
	burn(3000);
	return n - sink;
}

PLAIN long left(long n)
{
	return goal(n) + other(n) + 1;
}

PLAIN long right(long n)
{
	return other(n) + 1;
}

PLAIN long alpha(long n)
{
	return left(n) + left(n + 1) + right(n) + 1;
}

PLAIN long beta(long n)
{
	return other(n) + 2;
}

PLAIN long delta(long depth)
{
	return (depth ? delta(depth - 1) : goal(depth)) + other(depth);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 3; i++)
			(void)alpha(i);
		for (int i = 0; i < 4; i++)
			(void)beta(i);
		(void)delta(5);
	}
	return 0;
}
