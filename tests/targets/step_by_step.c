/* Reads a byte at a time: step N is begun at the Nth, and ends with the next.
 * step_by_step THREADS CALLS: then so many threads make so many calls each. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static long calls;

__attribute__((noinline)) int leaf(int number)
{
	__asm__ volatile("");
	return 2 * number;
}

__attribute__((noinline)) int step(int number)
{
	char byte;
	int more = leaf(number) >= 0 && read(0, &byte, 1) == 1;

	__asm__ volatile("");
	return more;
}

__attribute__((noinline)) int inner(int number)
{
	int sum = 0;

	for (int i = 0; i < number; i++)
		sum += leaf(i);
	return sum;
}

static void *work(void *argument)
{
	for (int i = 0; i < calls; i++)
		inner(i % 5);
	return argument;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t ids[16];
	int number = 0;

	calls = argc > 2 ? atol(argv[2]) : 0;
	while (step(number))
		number++;
	for (int i = 0; i < threads && i < 16; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (int i = 0; i < threads && i < 16; i++)
		pthread_join(ids[i], NULL);
	return number;
}
