/* build: -O1 -fno-optimize-sibling-calls */
/* A millisecond of processor time, again and again: 0.8 ms of it in most(),
 * 0.2 ms in rest(): rhythm ROUNDS */

#include <stdlib.h>
#include <time.h>

#define MS 1000000L

static volatile long sum;

static long processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static void work(long until_ns)
{
	while (processor_ns() < until_ns)
		for (int i = 0; i < 1000; i++)
			sum += i;
}

__attribute__((noipa)) void most(long until_ns)
{
	work(until_ns);
}

__attribute__((noipa)) void rest(long until_ns)
{
	work(until_ns);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000, start = processor_ns();

	for (long i = 0; i < rounds; i++) {
		most(start + i * MS + 8 * MS / 10);
		rest(start + (i + 1) * MS);
	}
	return 0;
}
