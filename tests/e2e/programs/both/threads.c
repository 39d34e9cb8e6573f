#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static _Thread_local volatile long sink;
__attribute__((noinline)) void work(long n)
{
	while (n--)
		sink = n;
}
static void *run(void *times)
{
	for (long i = 0; i < (long)times * 100; i++)
		work(1000000);
	return 0;
}
int main(void)
{
	pthread_t thread[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&thread[i], 0, run, (void *)(i ? 3L : 1L));
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], 0);
	if (!fork()) {
		work(100000000);
		_exit(0);
	}
	return !wait(0);
}
