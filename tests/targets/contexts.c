/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const */
/* 17 functions, each called from two places in the one above: 2^17 contexts. */
#include <stdio.h>
#include <unistd.h>

static volatile long sink;

#define LEVEL(n, next) \
	long level_##n(long x) \
	{ \
		long y = level_##next(x + n); \
\
		sink = y; \
		return y + level_##next(x - n); \
	}

long level_16(long x)
{
	sink = x;
	return x + 1;
}

LEVEL(15, 16)
LEVEL(14, 15)
LEVEL(13, 14)
LEVEL(12, 13)
LEVEL(11, 12)
LEVEL(10, 11)
LEVEL(9, 10)
LEVEL(8, 9)
LEVEL(7, 8)
LEVEL(6, 7)
LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)
LEVEL(0, 1)

/* With an argument it waits then, to be killed. */
int main(int argc, char **argv)
{
	(void)argv;
	printf("%ld\n", level_0(1));
	if (argc > 1)
		pause();
	return 0;
}
