#include <pthread.h>
#include <stdio.h>
static volatile long sink;
__attribute__((noinline)) void step(void) { sink = sink + 1; }
__attribute__((noinline)) void last(void) { sink = sink + 2; }
static void *work(void *quit)
{
	while (!__atomic_load_n((int *)quit, __ATOMIC_RELAXED))
		step();
	return NULL;
}
int main(void)
{
	pthread_t threads[3];
	int quit = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &quit);
	puts("ready");
	fflush(stdout);
	getchar();
	__atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	last();
	puts("good");
	return 0;
}
