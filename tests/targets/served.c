/* build: -pthread */
/* Works in several threads until a file appears, in steps of a known number of
 * calls; says at the end how many steps there were.
 *     served STOP-FILE [THREADS] */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define MOST 64

static const char *stop_file;
static volatile int stopping;

/* Adds up: nothing is lost, whatever is recorded. */
NOINLINE unsigned long leaf(unsigned long n)
{
	return n * 2862933555777941757u + 1;
}

NOINLINE unsigned long step(unsigned long n)
{
	for (int i = 0; i < 10; i++)
		n = leaf(n);
	return n;
}

NOINLINE void serve(unsigned long *steps, unsigned long *state)
{
	for (int i = 0; i < 100; i++)
		*state = step(*state);
	*steps += 100;
}

static void *thread(void *argument)
{
	unsigned long *steps = argument, state = 1, expected = 1;

	while (!stopping) {
		serve(steps, &state);
		usleep(2000);
	}
	for (unsigned long i = 0; i < *steps * 10; i++)
		expected = expected * 2862933555777941757u + 1;
	if (state != expected)
		abort();
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 2;
	static unsigned long steps[MOST][8];
	pthread_t ids[MOST];
	unsigned long sum = 0;

	if (argc < 2 || count < 1 || count > MOST)
		return 2;
	stop_file = argv[1];
	for (int i = 0; i < count; i++)
		pthread_create(&ids[i], NULL, thread, steps[i]);
	puts("ready");
	fflush(stdout);
	while (access(stop_file, F_OK) != 0)
		usleep(10000);
	stopping = 1;
	for (int i = 0; i < count; i++) {
		pthread_join(ids[i], NULL);
		sum += steps[i][0];
	}
	printf("steps %lu\n", sum);
	return 0;
}
