/* Each looks at its clock seldom: a thread that asks for its processor time has its turn
 * end there, on a machine with much to do. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#define BUSY(name) \
	__attribute__((noinline)) void name(void) \
	{ \
		for (int i = 0; i < 2000000; i++) \
			sink += i; \
	} \
	static void *run_##name(void *seconds) \
	{ \
		double end = used() + *(double *)seconds; \
		while (used() < end) \
			name(); \
		return NULL; \
	}

BUSY(in_child)
BUSY(in_grandchild)
BUSY(in_thread)
BUSY(in_later_child)

/* Works when its parent says so: a pipe is closed. */
static pid_t start(void *(*run)(void *), double seconds, int *go)
{
	pid_t pid = fork();

	if (pid == 0) {
		char byte;

		close(go[1]);
		(void)!read(go[0], &byte, 1);
		run(&seconds);
		_exit(0);
	}
	return pid;
}

static void *run_child(void *seconds)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_in_thread, seconds);
	run_in_child(seconds);
	pthread_join(thread, NULL);
	while (wait(NULL) > 0)
		;
	return NULL;
}

static void *run_both(void *seconds)
{
	int none[2];

	if (pipe(none) != 0)
		return NULL;
	start(run_in_grandchild, *(double *)seconds, none);
	close(none[1]);
	return run_child(seconds);
}

int main(void)
{
	int go[2];

	if (pipe(go) != 0)
		return 1;
	start(run_both, 1, go);
	puts("ready");
	fflush(stdout);
	getchar(); /* the sampler is there */
	start(run_in_later_child, 1, go);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
