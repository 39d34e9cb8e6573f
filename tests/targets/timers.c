/* Executes itself with timers of processor time running, as a program does that
 * has a profiler in LD_PRELOAD: they go on behind the exec, where the handlers
 * are gone until main sets them again. Without such a timer it begins as ever.
 * timers: a tick comes of each; timers none: there is none. Says so if the
 * timers have counted more than half of the processor time since the exec,
 * which is that of the program's own start (30 ms are left out for clocks that
 * tick). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t prof, virtual;

static void handler(int signal)
{
	if (signal == SIGPROF)
		prof = 1;
	else
		virtual = 1;
}

static const struct itimerval often = {{0, 8000}, {0, 300000}}, off;

static long used_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static long us(const struct timeval *t)
{
	return t->tv_sec * 1000000L + t->tv_usec;
}

__attribute__((noinline)) static unsigned work(unsigned n)
{
	__asm__("" : "+r"(n));
	return n + 1;
}

int main(int argc, char **argv)
{
	struct itimerval now;
	char used[32];
	unsigned n = 0;

	if (argc == 1) {
		snprintf(used, sizeof(used), "%ld", used_us());
		setitimer(ITIMER_PROF, &often, NULL);
		setitimer(ITIMER_VIRTUAL, &often, NULL);
		execl("/proc/self/exe", argv[0], "again", used, (char *)NULL);
		return 1;
	}
	signal(SIGPROF, handler);
	signal(SIGVTALRM, handler);
	for (int kind = ITIMER_VIRTUAL; kind <= ITIMER_PROF; kind++) {
		getitimer(kind, &now);
		printf("%d: every %ld us\n", kind,
		       (long)now.it_interval.tv_usec);
		if (argc > 2 && (us(&often.it_value) - us(&now.it_value)) * 2 >
					used_us() - atol(argv[2]) + 30000)
			printf("%d: counted %ld us, of %ld\n", kind,
			       us(&often.it_value) - us(&now.it_value),
			       used_us() - atol(argv[2]));
	}
	if (strcmp(argv[1], "none") == 0)
		return 0;
	while (!prof || !virtual)
		n = work(n);
	setitimer(ITIMER_PROF, &off, NULL);
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	puts("both came");
	return 3;
}
