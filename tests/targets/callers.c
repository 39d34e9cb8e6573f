/* build: -O1 */
/* "callers [MS]": one function, work, that spends half of its processor time
 * for left, 3 tenths for middle and 2 for right: 1000 ms of it, unless told
 * otherwise. Prints the ms of each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) static double work(double ms)
{
	double start = now(), time;

	do {
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
		time = now() - start;
	} while (time < ms);
	return time;
}

/* What is added is computed behind the call. */
#define CALLER(name) \
	static double of_##name; \
	__attribute__((noinline)) static void name(double ms) \
	{ \
		of_##name += work(ms); \
	}

CALLER(left)
CALLER(middle)
CALLER(right)

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 1000;

	/* in turns, so that each second is like the others */
	for (double done = 0; done < ms; done += 20) {
		left(10);
		middle(6);
		right(4);
	}
	printf("left %.3f\nmiddle %.3f\nright %.3f\n", of_left, of_middle,
	       of_right);
	return 0;
}
