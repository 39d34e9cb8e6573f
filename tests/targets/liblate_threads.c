/* build: -pthread */
/* Its constructor starts threads that are at work at once. */
#include <pthread.h>

#define THREADS 4

static pthread_t threads[THREADS];
static int results[THREADS];

__attribute__((noipa)) int threads_leaf(int x)
{
	return x ^ 1;
}

static void *work(void *argument)
{
	int *result = argument, x = 0;

	for (int i = 0; i < 5000; i++)
		x += threads_leaf(i);
	*result = x;
	return NULL;
}

__attribute__((constructor)) static void start_threads(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &results[i]);
}

int threads_join(void)
{
	int sum = 0;

	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i] == results[0];
	}
	return sum;
}
