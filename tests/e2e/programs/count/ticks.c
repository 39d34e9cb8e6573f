#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile long sink;
__attribute__((noinline)) void step(void) { sink = sink + 1; }
static volatile sig_atomic_t ticks;
static void tick(int n) { (void)n; ticks++; step(); }
int main(void)
{
	const struct itimerval often = {{0, 100}, {0, 100}};
	long n = 0;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < 3000)
		step(), n++;
	signal(SIGALRM, SIG_IGN);
	printf("%ld\n", n + ticks);
	return 0;
}
