/* build: -Iinclude -O1 */
/* A second of processor time, of which the program says that it is not to be
 * recorded for the half in between, nor is a nap behind it: paused_work SECONDS
 */

#include <stdlib.h>
#include <time.h>

#include "swizzle.h"

static volatile long sum;

static double processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline)) void step(void)
{
	for (int i = 0; i < 1000; i++)
		sum += i;
}

__attribute__((noinline)) void shown(double seconds)
{
	for (double end = processor_time() + seconds; processor_time() < end;)
		step();
}

__attribute__((noinline)) void hidden(double seconds)
{
	const struct timespec nap = {.tv_nsec = 300000000};

	for (double end = processor_time() + seconds; processor_time() < end;)
		step();
	nanosleep(&nap, NULL);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	shown(seconds / 4);
	swizzle_pause_process();
	hidden(seconds / 2);
	swizzle_resume_process();
	shown(seconds / 4);
	return 0;
}
