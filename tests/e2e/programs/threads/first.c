#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
static pthread_t first;
__attribute__((noinline)) void nap(const char *what)
{
	__asm__ volatile("" : : "r"(what) : "memory");
	nanosleep(&(struct timespec){0, 100000000}, 0);
}
static long locked(void)
{
	char line[200];
	long kib = -1;
	FILE *status = fopen("/proc/thread-self/status", "r");

	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmLck: %ld", &kib);
	fclose(status);
	return kib;
}
static void *work(void *arg)
{
	char word[] = "word";

	pthread_join(first, NULL); /* the kernel has it as a zombie */
	for (int i = 0; i < 5; i++)
		nap(word);
	if (mlockall(MCL_CURRENT) == 0)
		puts(locked() > 1000 ? "locked" : "not locked");
	exit(arg != NULL);
}
int main(void)
{
	pthread_t other;

	first = pthread_self();
	nap("first");
	pthread_create(&other, NULL, work, NULL);
	pthread_exit(NULL);
}
