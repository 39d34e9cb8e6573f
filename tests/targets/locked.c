/* build: -O1 -pthread -fno-inline -fno-optimize-sibling-calls */
/* Locks its memory: locked LIMIT FLAGS... sets what it may lock (in MiB; -1: no
 * limit), calls mlockall with each of the flags, and says what comes of it.
 * Then has a thread. To stderr goes what is locked then, in KiB. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#define MIB (1L << 20)
#define PAGES (MIB / 4096)

static char never_touched[MIB] __attribute__((aligned(4096)));
static volatile long sink;

long work(long n)
{
	sink = n;
	return n + 1;
}

long locked_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib;
}

/* Of so many pages, those that are present. */
int present(char *memory)
{
	unsigned char is[PAGES];
	int n = 0;

	if (mincore(memory, MIB, is) != 0)
		return -1;
	for (long i = 0; i < PAGES; i++)
		n += is[i] & 1;
	return n;
}

void lock(int flags)
{
	long before;
	char *later;
	int result;

	errno = 0;
	result = mlockall(flags);
	printf("flags %d: %d, %s\n", flags, result, strerror(errno));
	fflush(stdout);
	before = locked_kib();
	fprintf(stderr, "%ld\n", before);
	printf("locked: %d, present %d\n", before > 0, present(never_touched));
	later = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (later == MAP_FAILED) {
		printf("no more: %s\n", strerror(errno));
		return;
	}
	printf("later: locked %ld KiB, present %d\n", locked_kib() - before,
	       present(later));
	munmap(later, MIB);
}

void *in_thread(void *argument)
{
	for (long i = 0; i < 100; i++)
		work(i);
	return argument;
}

void thread(void)
{
	pthread_attr_t attributes;
	pthread_t other;
	int result;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	result = pthread_create(&other, &attributes, in_thread, NULL);
	if (result == 0)
		result = pthread_join(other, NULL);
	printf("thread: %s\n", strerror(result));
	fprintf(stderr, "%ld\n", locked_kib());
}

int main(int argc, char **argv)
{
	long mib = argc > 1 ? atol(argv[1]) : -1;
	struct rlimit limit = {(rlim_t)(mib * MIB), (rlim_t)(mib * MIB)};

	if (mib < 0)
		limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		printf("limit: %s\n", strerror(errno));
	for (int i = 2; i < argc; i++) {
		work(i);
		lock(atoi(argv[i]));
	}
	thread();
	return 0;
}
