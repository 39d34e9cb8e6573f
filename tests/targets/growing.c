/* build: -pthread */
/* growing THREADS [WAY]: each thread calls level_0 4,096 times with as many
 * paths through twelve levels, 8,191 contexts, so that the profile grows to
 * megabytes. WAY is `wait`, to read a byte from standard input before; `fork`,
 * to do the same once more in a child then; or how to end: `_exit`, `kill`. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 4096
#define MOST_THREADS 64

/* Two calls, which the compiler is not to make one of. */
#define LEVEL(n, next) \
	__attribute__((noipa)) long level_##n(long path) \
	{ \
		if (path & 1) { \
			__asm__ volatile("# left"); \
			return level_##next(path >> 1) + 1; \
		} \
		__asm__ volatile("# right"); \
		return level_##next(path >> 1) + 2; \
	}

__attribute__((noipa)) long level_12(long path)
{
	return path + 5;
}
LEVEL(11, 12)
LEVEL(10, 11)
LEVEL(9, 10)
LEVEL(8, 9)
LEVEL(7, 8)
LEVEL(6, 7)
LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)
LEVEL(0, 1)

static void *run(void *result)
{
	long sum = 0;

	for (long i = 0; i < CALLS; i++)
		sum += level_0(i);
	*(long *)result = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[MOST_THREADS];
	long results[MOST_THREADS], sum = 0;
	const char *way = argc > 2 ? argv[2] : "";
	char byte;

	if (count < 1 || count > MOST_THREADS)
		return 2;
	if (!strcmp(way, "wait") && read(0, &byte, 1) != 1)
		return 3;
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, &results[i]);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
	printf("%ld\n", sum);
	fflush(stdout);
	if (!strcmp(way, "fork")) {
		pid_t child = fork();

		if (child == 0)
			run(&sum);
		else
			waitpid(child, NULL, 0);
	}
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "kill"))
		raise(SIGKILL);
	return 0;
}
