/* build: -Iinclude -pthread */
/* Marks, spans and pauses of swizzle.h, with numbers of calls that tell what
 * was recorded. Prints what does not depend on being profiled. */

#include "swizzle.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE void leaf(void)
{
	sink++;
}

NOINLINE void work(int n)
{
	while (n--)
		leaf();
	sink++;
}

/* The end is a tail call where it can be one. */
NOINLINE void phase(const char *name, int n)
{
	swizzle_begin(name);
	work(n);
	swizzle_end();
}

NOINLINE void left_open(void)
{
	swizzle_begin("left open");
	work(3);
	sink++;
}

NOINLINE void resumes(void)
{
	work(7); /* not recorded */
	swizzle_resume();
	work(11);
}

NOINLINE void nested(void)
{
	swizzle_begin("outer");
	swizzle_begin("inner");
	work(5);
	swizzle_end();
	work(6);
	swizzle_end();
	swizzle_end(); /* of nothing */
	sink++;
}

/* Both are recorded, the calls in them are not. */
NOINLINE void within_pause(void)
{
	swizzle_pause();
	swizzle_begin("while paused");
	work(20);
	swizzle_mark("while paused");
	swizzle_end();
	swizzle_resume();
	sink++;
}

static void on_signal(int number)
{
	(void)number;
	swizzle_begin("handler");
	swizzle_mark("signal");
	swizzle_end();
}

/* --- threads: of four one pauses itself, then one pauses all */

#define THREADS 4

static pthread_barrier_t barrier;

NOINLINE void of_thread(void)
{
	sink++;
}

static void *thread(void *argument)
{
	int number = (int)(long)argument;

	if (number == 0)
		swizzle_pause();
	for (int i = 0; i < 100; i++)
		of_thread(); /* 300 */
	if (number == 0)
		swizzle_resume();
	pthread_barrier_wait(&barrier);
	if (number == 1)
		swizzle_pause_process();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++)
		of_thread(); /* none */
	pthread_barrier_wait(&barrier);
	if (number == 2)
		swizzle_resume_process();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 10; i++)
		of_thread(); /* 40 */
	return NULL;
}

NOINLINE void threads(void)
{
	pthread_t ids[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, thread, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

NOINLINE void child(void)
{
	work(2); /* in a pause */
	swizzle_resume();
	work(9);
	swizzle_mark("child");
	swizzle_begin("in child");
	work(1);
	swizzle_end();
	sink++;
}

NOINLINE void forks(void)
{
	swizzle_pause();
	fflush(stdout);
	if (fork() == 0) {
		child();
		_exit(0);
	}
	wait(NULL);
	swizzle_resume();
	sink++;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	char text[2000];

	signal(SIGUSR1, on_signal);
	swizzle_mark("begin");
	phase("load", 100);
	phase("run", 200);
	phase("load", 50);
	left_open();
	swizzle_pause();
	work(1000);
	resumes();
	nested();
	within_pause();
	raise(SIGUSR1);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	if (strcmp(kind, "long") == 0)
		swizzle_mark(text);
	if (strcmp(kind, "flood") == 0)
		for (int i = 0; i < 3000; i++)
			swizzle_mark(text);
	if (strcmp(kind, "many") == 0)
		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "name %d", i);
			phase(text, 0);
			swizzle_mark(text);
		}
	if (strcmp(kind, "threads") == 0)
		threads();
	if (strcmp(kind, "fork") == 0)
		forks();
	swizzle_mark("end");
	printf("%d\n", sink);
	return 0;
}
