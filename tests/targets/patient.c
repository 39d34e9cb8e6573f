/* build: -O1 -pthread */
/* Waits in many ways, with a thread that works, and counts what was cut short:
 * EINTR, a sleep that ended early, a signal. "patient MS [epoll]". */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int done;
static int interrupted, early, waits;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *work(void *none)
{
	volatile unsigned long sum = 0;

	while (!done)
		sum += 1;
	return none;
}

static void check(long result, double start, double ms)
{
	waits++;
	interrupted += result < 0 && errno == EINTR;
	early += now() - start < ms - 1;
}

static void wait_once(int epoll, int pipe_end)
{
	struct timespec ns = {0, 3000000};
	struct timeval us = {0, 3000};
	struct epoll_event event;
	struct pollfd fd = {pipe_end, POLLIN, 0};
	double start = now();

	check(syscall(SYS_nanosleep, &ns, NULL), start, 3);
	start = now();
	check(poll(&fd, 1, 3), start, 3);
	start = now();
	check(select(0, NULL, NULL, NULL, &us), start, 3);
	start = now();
	check(epoll_wait(epoll, &event, 1, 3), start, 3);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 500);
	int pipes[2], epoll = epoll_create1(0);
	pthread_t thread;

	if (pipe(pipes) != 0)
		return 1;
	pthread_create(&thread, NULL, work, NULL);
	while (now() < end)
		wait_once(epoll, pipes[0]);
	done = 1;
	pthread_join(thread, NULL);
	printf("waits %d interrupted %d early %d\n", waits, interrupted, early);
	return 0;
}
