/* build: -O2 -fno-inline */
/* Does the same for ever, and says when it has begun: for kills. */
#include <unistd.h>

static volatile long sink;

long tick(long n)
{
	sink = n;
	return n + 1;
}

long fib(long n)
{
	return n < 2 ? tick(n) : fib(n - 1) + fib(n - 2);
}

long round_of(long n)
{
	return fib(15) + n;
}

int main(void)
{
	if (write(1, "go\n", 3) != 3)
		return 1;
	for (;;)
		sink = round_of(sink);
}
