/* build: -O1 -pthread -fno-inline -fno-ipa-pure-const -fno-ipa-cp */
/* A process forks while other threads of it are deep in calls. In the child
 * those threads are gone, and new ones get their stacks. Each function returns
 * what only it computes, so a call that goes to another one is seen:
 * fork_waiting ROUNDS first|late
 * first: the forked thread makes the child's first calls, a few; late: the new
 * threads do, and it makes as many as they. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define FUNCTIONS 8
#define DEPTH 24
#define NO_WAIT 1000000

static sem_t ready, forever;

/* A way through the functions; wait_at counts down to where one waits. */
typedef unsigned (*function)(unsigned way, unsigned depth, unsigned wait_at);
extern const function functions[FUNCTIONS];

static unsigned next_way(unsigned way)
{
	return way * 1103515245u + 12345u;
}

static unsigned choice(unsigned way)
{
	return way >> 16 & (FUNCTIONS - 1);
}

static void wait_here(void)
{
	sem_post(&ready);
	sem_wait(&forever);
}

#define DEFINE(I) \
	unsigned f##I(unsigned way, unsigned depth, unsigned wait_at) \
	{ \
		unsigned below = 0; \
\
		if (!wait_at) \
			wait_here(); \
		if (depth) \
			below = functions[choice(way)]( \
				next_way(way), depth - 1, wait_at - 1); \
		return below * 31 + I + 1; \
	}

DEFINE(0)
DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)

const function functions[FUNCTIONS] = {f0, f1, f2, f3, f4, f5, f6, f7};

/* The same, without a call of them. */
static unsigned expected(unsigned first, unsigned way, unsigned depth)
{
	unsigned path[DEPTH + 1], sum = 0;

	path[0] = first;
	for (unsigned i = 1; i <= depth; i++, way = next_way(way))
		path[i] = choice(way);
	for (unsigned i = depth + 1; i-- > 0;)
		sum = sum * 31 + path[i] + 1;
	return sum;
}

/* New ways all the time, and old ones again. */
static unsigned long walk(unsigned seed, unsigned long rounds)
{
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < rounds; i++) {
		unsigned n = (unsigned)(i & 1 ? i / 2 : i * 7919 % (i / 2 + 1));
		unsigned way = next_way(seed + n);
		unsigned first = way >> 20 & (FUNCTIONS - 1);

		if (functions[first](way, DEPTH, NO_WAIT) !=
		    expected(first, way, DEPTH))
			wrong++;
	}
	return wrong;
}

static void *wait_deep(void *argument)
{
	unsigned seed = (unsigned)(unsigned long)argument;

	walk(seed, 100);
	functions[seed % FUNCTIONS](seed, DEPTH, DEPTH);
	return NULL;
}

static unsigned long rounds;

static void *walk_long(void *argument)
{
	sem_post(&ready);
	return (void *)walk((unsigned)(unsigned long)argument, rounds);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned long wrong = 0;
	int status, first;
	pid_t pid;

	if (argc != 3)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	first = !strcmp(argv[2], "first");
	sem_init(&ready, 0, 0);
	sem_init(&forever, 0, 0);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, wait_deep,
			       (void *)(i * 1009 + 1));
	for (int i = 0; i < THREADS; i++)
		sem_wait(&ready);
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		if (first)
			wrong += walk(3, 1);
		for (long i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, walk_long,
				       (void *)(i * 7919 + 5));
		if (!first) {
			sem_wait(&ready);
			wrong += walk(3, rounds);
		}
		for (int i = 0; i < THREADS; i++) {
			void *result;

			pthread_join(threads[i], &result);
			wrong += (unsigned long)result;
		}
		printf("%lu ways went wrong\n", wrong);
		fflush(stdout);
		_exit(wrong ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	printf("the child's status: %x\n", (unsigned)status);
	return status ? 1 : 0;
}
