#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long sink;
static long first_busy;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}

static void *run(void *number)
{
	if ((long)number < first_busy)
		pause();
	for (;;)
		work();
	return NULL;
}

int main(int argc, char **argv)
{
	long count = atol(argv[1]);
	pthread_attr_t small;

	(void)argc;
	first_busy = count - 2;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	for (long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &small, run, (void *)i) != 0)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
