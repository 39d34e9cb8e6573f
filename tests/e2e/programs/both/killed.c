/* Calls a function for a tenth of a second, runs on for half a second without a call, and is
 * killed. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

static long run_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noipa)) static void work(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

int main(void)
{
	while (run_ns() < 100000000)
		work();
	for (volatile long i = 0; i % 1000 || run_ns() < 600000000; i++)
		;
	kill(getpid(), SIGKILL);
}
