/* build: -O2 -fno-inline -fno-ipa-pure-const -fno-ipa-cp -fno-ipa-icf */
/* Threads of the program's own: a timer's handler switches to the next one's
 * stack, and comes back much later. What it has interrupted, hooks too, goes on
 * when others have made calls and are in the midst of them. preempted [ROUNDS]
 * prints what they have computed, and how often each function was called. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define THREADS 16
#define STACK_BYTES (1 << 18)
#define MICROSECONDS 100
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))

static ucontext_t contexts[THREADS + 1]; /* the last one is main's */
static volatile int current = THREADS, left = THREADS;
static volatile bool done[THREADS];
static volatile long switches, sink;
static long sums[THREADS], calls[5], rounds = 300;

static void count(int i)
{
	__atomic_fetch_add(&calls[i], 1, __ATOMIC_RELAXED);
}

long work_leaf(long n)
{
	count(0);
	sink += n;
	return n * 3;
}

long work_jumps(long n)
{
	count(1);
	return work_leaf(n + 1);
}

long work_jumps_twice(long n)
{
	count(2);
	return work_jumps(n + 1);
}

PLAIN long work_down(long depth)
{
	count(3);
	if (!depth)
		return work_jumps(1);
	return work_down(depth - 1) + work_jumps_twice(depth);
}

PLAIN long work_tree(long depth)
{
	count(4);
	if (!depth)
		return work_leaf(2);
	return work_tree(depth - 1) + work_tree(depth - 1) + work_jumps(depth);
}

static int next(int me)
{
	for (int i = 1; i <= THREADS; i++) {
		int other = (me + i) % (THREADS + 1);

		if (other < THREADS && !done[other])
			return other;
	}
	return left ? me : THREADS;
}

static void yield(void)
{
	int me = current, other = next(me);

	if (other == me)
		return;
	current = other;
	switches++;
	swapcontext(&contexts[me], &contexts[other]);
}

static void preempt(int number)
{
	int kept = errno;

	(void)number;
	if (current < THREADS)
		yield();
	errno = kept;
}

static void set_alarm_blocked(bool blocked)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void run(int id)
{
	long sum = 0;

	set_alarm_blocked(false);
	for (long i = 0; i < rounds; i++)
		sum += work_down(20 + id) + work_tree(5 + id % 3);
	set_alarm_blocked(true);
	sums[id] = sum;
	done[id] = true;
	left--;
	yield();
	abort();
}

int main(int argc, char **argv)
{
	struct itimerval timer = {{0, MICROSECONDS}, {0, MICROSECONDS}};
	struct sigaction action = {.sa_handler = preempt,
				   .sa_flags = SA_RESTART};
	long sum = 0;

	if (argc > 1)
		rounds = atol(argv[1]);
	set_alarm_blocked(true);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < THREADS; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = mmap(
			NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], (void (*)(void))run, 1, i);
	}
	setitimer(ITIMER_REAL, &timer, NULL);
	yield();
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < THREADS; i++)
		sum += sums[i];
	printf("%ld %s\n", sum, switches > THREADS + 1 ? "switched" : "not");
	printf("work_leaf %ld\nwork_jumps %ld\nwork_jumps_twice %ld\n"
	       "work_down %ld\nwork_tree %ld\n",
	       calls[0], calls[1], calls[2], calls[3], calls[4]);
	return 0;
}
