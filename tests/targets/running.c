/* build: -O2 -pthread -fno-inline -fno-ipa-cp */
/* Threads that run for a time and wait for another: running [ended|killed]
 * Prints "NAME NS": how long each has run since it came to its function, as it
 * knows itself; (ended) also "ended NAME NS", when all is over but what the C
 * library does. The last one waits until the process has ended, or (killed)
 * until it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;
static pthread_barrier_t all_done;
static pthread_key_t at_end;
static bool has_end;
static __thread long began;

long run_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* (a page reads a trace in parts that has so many calls, also where they are
 * slow) */
#define MANY 21000

void run(long ms)
{
	for (long calls = 0; run_ns() < ms * 1000000 || calls < MANY; calls++)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

void rest(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void tell(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	printf("%s %ld\n", name, run_ns() - began);
	fflush(stdout);
	if (has_end)
		pthread_setspecific(at_end, name);
}

static void ended(void *name)
{
	printf("ended %s %ld\n", (const char *)name, run_ns());
	fflush(stdout);
}

static void *returns(void *argument)
{
	began = run_ns();
	run(90);
	rest(200);
	tell("returns");
	return argument;
}

/* It goes on to another function by a jump, which returns for it. */
static void *jumps(void *argument)
{
	sink++;
	pthread_setname_np(pthread_self(), "jumps");
	return returns(argument);
}

static void *leaves(void *argument)
{
	began = run_ns();
	rest(100);
	run(60);
	tell("leaves");
	pthread_exit(argument);
}

static void *stays(void *argument)
{
	began = run_ns();
	run(30);
	tell("stays");
	pthread_barrier_wait(&all_done);
	for (;;)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	static void *(*const functions[])(void *) = {returns, jumps, leaves};
	pthread_t threads[3], last;

	has_end = argc > 1 && strcmp(argv[1], "ended") == 0;
	pthread_key_create(&at_end, ended);
	pthread_barrier_init(&all_done, NULL, 2);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, functions[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&last, NULL, stays, NULL);
	pthread_barrier_wait(&all_done);
	rest(50);
	if (argc > 1 && strcmp(argv[1], "killed") == 0) {
		/* nothing that was not there before, for long */
		for (long ms = 50; ms <= 250; ms += 50)
			run(ms);
		kill(getpid(), SIGKILL);
	}
	return 0;
}
