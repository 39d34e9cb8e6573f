// build: -g -O2 -pthread -fno-optimize-sibling-calls
/* Three threads and one mutex. discount() computes, and has most of the
 * processor time; lookup() computes little and waits for the mutex, which
 * discount() is called under; main waits in join. Each thread's own clock is
 * printed at its end: name, processor time and wall-clock time, in ns.
 *
 * checkout [ROUNDS]: for each thread, of some 2 ms. */

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

#define APART __attribute__((noipa))

static std::mutex catalog;
static volatile unsigned long sink;
static std::mutex printing;

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

APART static void discount(unsigned n)
{
	unsigned long x = n;

	for (int i = 0; i < 800000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	sink = x;
}

APART static void tax(unsigned n)
{
	unsigned long x = n;

	for (int i = 0; i < 200000; i++)
		x = x * 6364136223846793005ul + 1;
	sink = x;
}

APART static void lookup(unsigned n)
{
	std::lock_guard<std::mutex> lock(catalog);

	discount(n);
}

APART static void till(int number, int rounds)
{
	long long wall = now(CLOCK_MONOTONIC);
	char name[16];

	snprintf(name, sizeof(name), "till-%d", number);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < rounds; i++) {
		lookup(i);
		tax(i);
	}
	std::lock_guard<std::mutex> lock(printing);
	printf("%s %lld %lld\n", name, now(CLOCK_THREAD_CPUTIME_ID),
	       now(CLOCK_MONOTONIC) - wall);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	long long wall = now(CLOCK_MONOTONIC);
	std::vector<std::thread> tills;

	for (int i = 0; i < 3; i++)
		tills.emplace_back(till, i, rounds);
	for (auto &t : tills)
		t.join();
	printf("main %lld %lld\n", now(CLOCK_THREAD_CPUTIME_ID),
	       now(CLOCK_MONOTONIC) - wall);
	return 0;
}
