/* build: -O2 -fno-inline -fno-ipa-icf -fno-ipa-cp -fno-optimize-sibling-calls
 */
/* Calls of one edge, nearly all of them short and a few very long: heavy
 * calls|jumps|less [EDGES], with less a few hundred that are not so long. The
 * long ones call others all the time. Prints how many milliseconds of its own
 * time long_or_short() took in them, and how many of these it ran. EDGES, up to
 * 16, are made before. heavy mixed: every other call takes some hundred
 * nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

static double now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

KEEP int helper(int i)
{
	sink = i;
	return i + 1;
}

KEEP int caller(int i)
{
	return helper(i) + helper(i + 1);
}

static double own_ms, running_ms;

/* How long a long one is. */
static struct {
	int rounds, calls, spins;
} size = {100, 200, 2500000};

KEEP int long_or_short(int is_long)
{
	double start, running;
	int sum = caller(is_long);

	for (int i = 0; is_long && i < size.rounds; i++) {
		for (int j = 0; j < size.calls; j++)
			sum += caller(j);
		running = now_ms(CLOCK_THREAD_CPUTIME_ID);
		start = now_ms(CLOCK_MONOTONIC);
		for (int j = 0; j < size.spins; j++)
			sink = j;
		own_ms += now_ms(CLOCK_MONOTONIC) - start;
		running_ms += now_ms(CLOCK_THREAD_CPUTIME_ID) - running;
	}
	return sum;
}

KEEP int mixed(int takes_time)
{
	for (int j = 0; takes_time && j < 1000; j++)
		sink = j;
	return takes_time;
}

/* Its frame stands for long_or_short() too. */
__attribute__((optimize("optimize-sibling-calls"))) KEEP int jumper(int is_long)
{
	sink = is_long;
	return long_or_short(is_long);
}

__attribute__((optimize("optimize-sibling-calls"))) KEEP int mixed_jumper(int i)
{
	sink = i;
	return mixed(i);
}

#define FOUR_EDGES(from) \
	sum += edges > (from) ? helper(0) : 0; \
	sum += edges > (from) + 1 ? helper(0) : 0; \
	sum += edges > (from) + 2 ? helper(0) : 0; \
	sum += edges > (from) + 3 ? helper(0) : 0;

int main(int argc, char **argv)
{
	int (*call)(int) = long_or_short;
	int edges = argc > 2 ? atoi(argv[2]) : 0;
	int rarely = 80000;
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "mixed")) {
		for (int i = 0; i < 200000; i++)
			sum += argc > 2 ? mixed_jumper(i % 2) : mixed(i % 2);
		printf("%ld\n", sum);
		return 0;
	}
	FOUR_EDGES(0)
	FOUR_EDGES(4)
	FOUR_EDGES(8)
	FOUR_EDGES(12)
	if (argc > 1 && !strcmp(argv[1], "less")) {
		size.rounds = 20;
		size.calls = 50;
		size.spins = 50000;
		rarely = 500;
	}
	if (argc > 1 && !strcmp(argv[1], "jumps"))
		call = jumper;
	/* the same call of the same function: short ones first */
	for (int i = 1; i <= 200000; i++)
		sum += call(i % rarely == 0);
	sink = (int)sum;
	printf("%.0f %.0f\n", own_ms, running_ms);
	return 0;
}
