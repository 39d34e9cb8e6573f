/* build: -O1 -fno-inline -fno-ipa-pure-const -fno-ipa-cp
 * -fno-optimize-sibling-calls */
/* A handler forks at random instants, also amid hooks, and the child returns
 * from it, does what is left to do and some more: fork_returns FORKS
 * [nested | far | calls]. With "nested" it forks in a second handler, which
 * interrupts the first on a stack of its own; with "far" below a large frame;
 * with "calls" the child's handler makes as many calls as need thunks anew. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink, forks, wrong;
static volatile sig_atomic_t in_child;

long leaf(long n)
{
	sink = n;
	return 3 * n;
}

long middle(long n)
{
	return leaf(n) + leaf(n + 1);
}

long down(long n)
{
	return n ? down(n - 1) + middle(n) : middle(1);
}

long tree(long n)
{
	return n ? tree(n - 1) + tree(n - 1) + middle(n) : leaf(2);
}

long deeper(long n)
{
	return n ? deeper(n - 1) + 7 : 5;
}

static long work(void)
{
	return down(30) + tree(7);
}

static int calls;

static void set_timer(void)
{
	struct itimerval once = {.it_value.tv_usec = 20 + rand() % 200};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void fork_now(int number)
{
	int status = -1, error = errno;
	pid_t child = fork();

	(void)number;
	forks = forks + 1;
	if (child == 0) {
		in_child = 1;
		wrong = calls && deeper(300) != 2105;
	} else {
		if (waitpid(child, &status, 0) != child || status != 0)
			wrong = wrong + 1;
		set_timer();
	}
	errno = error;
}

static void raise_other(int number)
{
	int error = errno;

	(void)number;
	raise(SIGUSR1);
	errno = error;
}

static void fork_far(int number)
{
	volatile char room[512 << 10];

	room[0] = room[sizeof(room) - 1] = 1;
	fork_now(number);
	sink = room[0];
}

static void fork_nested(struct sigaction *alarm)
{
	static char stack[64 << 10];
	stack_t apart = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = fork_now,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&apart, NULL);
	sigaction(SIGUSR1, &action, NULL);
	alarm->sa_handler = raise_other;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = fork_now,
				   .sa_flags = SA_RESTART};
	long most = argc > 1 ? atol(argv[1]) : 100, expected;

	if (argc > 2 && !strcmp(argv[2], "nested"))
		fork_nested(&action);
	if (argc > 2 && !strcmp(argv[2], "far"))
		action.sa_handler = fork_far;
	calls = argc > 2 && !strcmp(argv[2], "calls");
	expected = work();
	sigaction(SIGALRM, &action, NULL);
	set_timer();
	while (forks < most && !in_child)
		if (work() != expected)
			wrong = wrong + 1;
	signal(SIGALRM, in_child ? SIG_DFL : SIG_IGN);
	if (in_child)
		_exit(wrong || work() != expected);
	printf("%ld wrong\n", wrong);
	return 0;
}
