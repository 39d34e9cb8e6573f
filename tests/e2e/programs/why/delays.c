/* delays KIND|LIBRARY: 200 calls of handle(), of which each fiftieth is slow by
 * a known cause: "lock", "read", "faults", "processor", "collect", or the
 * library is loaded. A delay that is a time has 30 ms. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DELAY_NS 30000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int asks[2], answers[2], held[2];
static volatile long sum;
static volatile int done;

__attribute__((noipa)) static void nap(long ns)
{
	struct timespec left = {0, ns};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

__attribute__((noipa)) void hold_lock(void)
{
	char byte = 0;

	pthread_mutex_lock(&lock);
	if (write(held[1], &byte, 1) != 1)
		abort();
	nap(DELAY_NS);
	pthread_mutex_unlock(&lock);
}

static int64_t used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static volatile long rounds = 1000;

__attribute__((noipa)) void compute(void)
{
	for (long i = rounds; i > 0; i--)
		sum++;
}

/* Finds how many rounds take the delay's time. */
static void calibrate(void)
{
	for (int64_t used = 0; used < DELAY_NS; used = used_ns() - used) {
		rounds *= 2;
		used = used_ns();
		compute();
	}
}

__attribute__((noipa)) void luaC_fullgc(void)
{
	compute();
}

/* 'l': holds the lock; 'b': is busy; 'a': answers after the delay. */
static void *other(void *unused)
{
	char byte;

	while (read(asks[0], &byte, 1) == 1)
		if (byte == 'l') {
			hold_lock();
		} else if (byte == 'b') {
			while (!done)
				sum++;
		} else {
			nap(DELAY_NS);
			if (write(answers[1], &byte, 1) != 1)
				abort();
		}
	return unused;
}

static void ask(char what)
{
	if (write(asks[1], &what, 1) != 1)
		abort();
}

__attribute__((noipa)) void take_lock(void)
{
	pthread_mutex_lock(&lock);
	sum++;
	pthread_mutex_unlock(&lock);
}

__attribute__((noipa)) void read_answer(void)
{
	char byte;

	if (read(answers[0], &byte, 1) != 1)
		abort();
}

__attribute__((noipa)) void touch(size_t pages)
{
	char *memory = mmap(NULL, pages << 12, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, pages << 12, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i << 12] = 1;
	munmap(memory, pages << 12);
}

__attribute__((noipa)) void handle(int number, const char *kind)
{
	int slow = number % 50 == 49;
	char byte = 'a';

	if (strcmp(kind, "lock") == 0) {
		if (slow) {
			ask('l');
			if (read(held[0], &byte, 1) != 1)
				abort();
		}
		take_lock();
	} else if (strcmp(kind, "read") == 0) {
		if (slow)
			ask('a');
		else if (write(answers[1], &byte, 1) != 1)
			abort();
		read_answer();
	} else if (strcmp(kind, "faults") == 0) {
		touch(slow ? 30000 : 4);
	} else if (strcmp(kind, "processor") == 0) {
		if (slow) {
			done = 0;
			ask('b');
			compute();
			done = 1;
		}
	} else if (strcmp(kind, "collect") == 0) {
		if (slow)
			luaC_fullgc();
	} else if (slow) {
		if (!dlopen(kind, RTLD_NOW))
			puts(dlerror());
	} else {
		take_lock();
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || pipe(asks) || pipe(answers) || pipe(held) ||
	    pthread_create(&thread, NULL, other, NULL))
		return 1;
	calibrate();
	for (int i = 0; i < 200; i++)
		handle(i, argv[1]);
	close(asks[1]);
	pthread_join(thread, NULL);
	return 0;
}
