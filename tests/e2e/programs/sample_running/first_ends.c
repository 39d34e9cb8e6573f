#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}

static void *keep_working(void *none)
{
	(void)none;
	for (;;)
		work();
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, keep_working, NULL);
	puts("ready");
	fflush(stdout);
	getchar();
	pthread_exit(NULL);
}
