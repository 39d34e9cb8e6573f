/* Executes itself with timers of processor time running, as a program does that
 * has a profiler in LD_PRELOAD: they go on behind the exec, where the handlers
 * are gone until main sets them again. Without such a timer it begins as ever.
 * timers: a tick comes and each counts; timers none: there is none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t prof, virtual;

static void handler(int signal)
{
	if (signal == SIGPROF)
		prof = 1;
	else
		virtual = 1;
}

static const struct itimerval often = {{0, 8000}, {0, 8000}}, off;

__attribute__((noinline)) static unsigned work(unsigned n)
{
	__asm__("" : "+r"(n));
	return n + 1;
}

int main(int argc, char **argv)
{
	struct itimerval now;
	unsigned n = 0;

	if (argc == 1) {
		setitimer(ITIMER_PROF, &often, NULL);
		setitimer(ITIMER_VIRTUAL, &often, NULL);
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
		return 1;
	}
	signal(SIGPROF, handler);
	signal(SIGVTALRM, handler);
	for (int kind = ITIMER_VIRTUAL; kind <= ITIMER_PROF; kind++) {
		getitimer(kind, &now);
		printf("%d: every %ld us\n", kind,
		       (long)now.it_interval.tv_usec);
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
