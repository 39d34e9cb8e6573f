/* A system call every few microseconds. Prints the processor time of the work
 * between, and of the process, in ms. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 5000; i++)
		sink += (unsigned long)i;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void)
{
	double start = now(), alone;

	for (int i = 0; i < 20000; i++)
		work();
	alone = (now() - start) / 20000;
	for (int i = 0; i < 600000; i++) {
		work();
		syscall(SYS_getppid);
	}
	printf("work %.3f\nprocess %.3f\n", alone * 620000, now());
	return 0;
}
