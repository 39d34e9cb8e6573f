/* build: -O2 -pthread -fno-inline -fno-ipa-pure-const -fno-ipa-cp */
/* Threads that come and go: threads short|detached|together|names|keys [N] */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static _Thread_local volatile long sink;
static atomic_int done, destroyed;
static pthread_key_t keys[3];

long work(long n)
{
	sink = n;
	return n + 1;
}

long nest(long n)
{
	long below = n ? nest(n - 1) : work(n);

	sink = below;
	return below + 1;
}

static void *short_thread(void *argument)
{
	return (void *)nest((long)argument % 20);
}

static void *detached_thread(void *argument)
{
	nest(3);
	atomic_fetch_add(&done, 1);
	return argument;
}

/* Run after the thread function, and again, as long as the value is set. */
void destroy(void *value)
{
	long rounds = (long)value;

	work(rounds);
	atomic_fetch_add(&destroyed, 1);
	if (rounds > 1)
		pthread_setspecific(keys[rounds % 3], (void *)(rounds - 1));
}

static void *keyed_thread(void *argument)
{
	for (int i = 0; i < 3; i++)
		pthread_setspecific(keys[i], (void *)3L);
	work(1);
	return argument;
}

static void *named_thread(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", (long)argument);
	work(1);
	pthread_setname_np(pthread_self(), name);
	nest(5);
	work(2);
	return argument;
}

static void start(pthread_t *thread, void *(*function)(void *), long n)
{
	if (pthread_create(thread, NULL, function, (void *)n) != 0) {
		puts("cannot make a thread");
		exit(1);
	}
}

/* A thread that was joined has given its memory back when the kernel has done
 * with it. */
static void await_the_ends(void)
{
	int others;

	do {
		DIR *tasks = opendir("/proc/self/task");

		others = -3; /* ".", "..", this one */
		while (tasks && readdir(tasks))
			others++;
		if (tasks)
			closedir(tasks);
	} while (others > 0 && sched_yield() == 0);
}

static void short_ones(int n)
{
	pthread_t thread[8];
	long sum = 0, before = 0, code = 0;

	for (int i = 0; i < n; i += 8) {
		if (i == n / 4 / 8 * 8)
			before = resident_kb(), code = made_code_kb();
		for (int j = 0; j < 8; j++)
			start(&thread[j], short_thread, i + j);
		for (int j = 0; j < 8; j++) {
			void *result;

			pthread_join(thread[j], &result);
			sum += (long)result;
		}
	}
	printf("%ld\n", sum);
	say_code_growth(code, 256);
	/* each leaves a few contexts in the profile, no thunks, no stack */
	if ((resident_kb() - before) > 4096 + 4 * n)
		printf("memory grew by %ld kB\n", resident_kb() - before);
}

static pthread_barrier_t all_are_there;

static void *waiting_thread(void *argument)
{
	nest(3);
	pthread_barrier_wait(&all_are_there);
	pthread_barrier_wait(&all_are_there);
	return argument;
}

static long mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	long lines = 0;
	int c;

	while (f && (c = fgetc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

/* So many at once, and as many again. The kernel lets a process have so many
 * mappings (65530), and libc makes two for each thread. The profiler adds one,
 * and two for each group of some twenty threads; which of all these the kernel
 * merges differs from run to run. */
static void together(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	long code = 0;

	pthread_barrier_init(&all_are_there, NULL, (unsigned)n + 1);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < n; i++)
			start(&threads[i], waiting_thread, i);
		pthread_barrier_wait(&all_are_there);
		if (!round && mappings() > 3 * n + n / 2 + 200)
			printf("%ld mappings\n", mappings());
		pthread_barrier_wait(&all_are_there);
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		await_the_ends();
		if (!round)
			code = made_code_kb();
	}
	/* (parts of the arena are a quarter of it, 1 MiB here) */
	say_code_growth(code, 2048);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "short";
	int n = argc > 2 ? atoi(argv[2]) : 2000;
	pthread_t thread;

	if (!strcmp(mode, "short")) {
		short_ones(n);
	} else if (!strcmp(mode, "detached")) {
		for (int i = 0; i < n; i++) {
			start(&thread, detached_thread, i);
			pthread_detach(thread);
			while (i - atomic_load(&done) > 50)
				usleep(100);
		}
		while (atomic_load(&done) < n)
			usleep(100);
		printf("%d\n", atomic_load(&done));
	} else if (!strcmp(mode, "together")) {
		together(n);
	} else if (!strcmp(mode, "keys")) {
		for (int i = 0; i < 3; i++)
			pthread_key_create(&keys[i], destroy);
		for (int i = 0; i < n; i++) {
			start(&thread, keyed_thread, i);
			pthread_join(thread, NULL);
		}
		printf("%d\n", atomic_load(&destroyed));
	} else {
		for (int i = 0; i < 4; i++) {
			start(&thread, named_thread, i);
			pthread_join(thread, NULL);
		}
	}
	return 0;
}
