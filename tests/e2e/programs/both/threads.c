/* Threads that work for 100 and 300 times a millisecond of processor time, and
 * a child for 100 at once. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static _Thread_local volatile long sink;
__attribute__((always_inline)) static inline long used_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
__attribute__((noinline)) void work(long ns)
{
	long until = used_ns() + ns;
	do
		for (long n = 100000; n--;)
			sink = n;
	while (used_ns() < until);
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
