/* build: -O1 -pthread */
/* Work whose shares are known: so much processor time in each function.
 * "shares": 3 parts of a, 6 of b, 1 of c, one after the other. "shares
 * threads": one, two and three in a thread each, the same time. "shares short
 * N": N times the same thing in short threads, which main starts, and in main.
 * "shares waits N": N times a little of a, half as much of b, and a wait.
 * Prints the processor time of each in ms, and of the process. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned long sink;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#define WORK(name) \
	__attribute__((noinline)) static double name(double ms) \
	{ \
		double start = now(CLOCK_THREAD_CPUTIME_ID), time; \
\
		do { \
			for (int i = 0; i < 1000000; i++) \
				sink += (unsigned long)i; \
			time = now(CLOCK_THREAD_CPUTIME_ID) - start; \
		} while (time < ms); \
		return time; \
	}

WORK(a)
WORK(b)
WORK(c)

struct job {
	double (*work)(double ms);
	double ms, used;
};

static void *run(void *argument)
{
	struct job *job = argument;

	job->used = job->work(job->ms);
	return NULL;
}

static void in_threads(double ms)
{
	struct job jobs[] = {{a, ms, 0}, {b, ms, 0}, {c, ms, 0}};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
		printf("%c %.3f\n", 'a' + i, jobs[i].used);
}

static void in_short_threads(int count)
{
	double used = 0;

	for (int i = 0; i < count; i++) {
		struct job job = {b, 3, 0};
		pthread_t thread;

		used += a(3);
		pthread_create(&thread, NULL, run, &job);
		pthread_join(thread, NULL);
	}
	printf("a %.3f\n", used);
}

__attribute__((noinline)) static void rest(void)
{
	(void)poll(NULL, 0, 5);
}

static void between_waits(int count)
{
	double of_a = 0, of_b = 0;

	for (int i = 0; i < count; i++) {
		of_a += a(1);
		of_b += b(0.5);
		rest();
	}
	printf("a %.3f\nb %.3f\n", of_a, of_b);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		in_threads(300);
	else if (argc > 2 && strcmp(argv[1], "short") == 0)
		in_short_threads(atoi(argv[2]));
	else if (argc > 2 && strcmp(argv[1], "waits") == 0)
		between_waits(atoi(argv[2]));
	else
		printf("a %.3f\nb %.3f\nc %.3f\n", a(300), b(600), c(100));
	printf("process %.3f\n", now(CLOCK_PROCESS_CPUTIME_ID));
	return argc > 1 && strcmp(argv[1], "exit") == 0 ? atoi(argv[2]) : 0;
}
