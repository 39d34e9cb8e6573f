/* build: -O1 -pthread -fno-optimize-sibling-calls */
/* deep N [M]: recursion N deep on a thread with a large stack, M times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long sink;

__attribute__((noinline, noclone)) long descend(long depth)
{
	sink = depth;
	return depth ? descend(depth - 1) + 1 : 0;
}

static long depth = 1000000;
static int times = 1;

static void *run(void *unused)
{
	long sum = 0;

	(void)unused;
	for (int i = 0; i < times; i++)
		sum += descend(depth);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	if (argc > 1)
		depth = atol(argv[1]);
	if (argc > 2)
		times = atoi(argv[2]);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)depth * 64 + (1 << 20));
	pthread_create(&thread, &attributes, run, NULL);
	pthread_join(thread, &result);
	printf("%ld\n", (long)result);
	return 0;
}
