/* build: -O1 -fno-inline -fno-ipa-pure-const */
/* A timer interrupts hooked recursion, and its handler calls hooked functions:
 * signals [SECONDS/10] [stack|nested|jump|jump-stack] */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile long sink, ticks, raised;

long handled(long n)
{
	sink = n;
	return n + 1;
}

long leaf(long n)
{
	sink = n;
	return n;
}

long fib(long n)
{
	return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2);
}

static void on_other(int number)
{
	raised += fib(4) == 3 && number;
}

static struct itimerval often = {{0, 0}, {0, 50}};

static void on_alarm(int number)
{
	ticks++;
	sink = handled(handled(number)) + fib(5);
	/* not a period: where the handler takes longer, nothing else would run
	 */
	setitimer(ITIMER_REAL, &often, NULL);
}

static void on_alarm_nested(int number)
{
	on_alarm(number);
	raise(SIGUSR1);
}

static sigjmp_buf back;

static void on_alarm_jump(int number)
{
	on_alarm(number);
	siglongjmp(back, 1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	volatile double end = now() + (argc > 1 ? atof(argv[1]) : 10) / 10;
	const char *mode = argc > 2 ? argv[2] : "";
	struct sigaction action = {.sa_handler = on_alarm};
	struct sigaction other = {.sa_handler = on_other};
	struct itimerval never = {0};
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	volatile long rounds = 0, wrong = 0;
	sigset_t alarms;

	if (strstr(mode, "stack")) {
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	if (!strcmp(mode, "nested"))
		action.sa_handler = on_alarm_nested;
	if (!strncmp(mode, "jump", 4)) {
		action.sa_handler = on_alarm_jump;
		often.it_value.tv_usec = 300; /* a round of fib takes less */
	}
	sigaction(SIGUSR1, &other, NULL);
	sigaction(SIGALRM, &action, NULL);
	/* a place to jump to, before the first jump can come */
	sigsetjmp(back, 1);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; now() < end; rounds++)
		wrong += fib(20) != 6765;
	/* or one that comes as the timer stops would start it again */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	fprintf(stderr, "%ld %ld %ld\n", rounds, ticks, raised);
	printf("%ld wrong, %s\n", wrong, ticks > 10 ? "ticks" : "no tick");
	return 0;
}
