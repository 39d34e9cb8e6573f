// What a throw costs: "throws COUNT" prints "throw ns", the time of one across
// ten frames, of which five have something to destroy. See tests/bench/calls.c.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long destroyed;
static volatile int zero;

struct guard {
	NOINLINE ~guard()
	{
		destroyed = destroyed + 1;
	}
};

template <int N> NOINLINE int level(int x)
{
	if (N % 2) {
		guard g;
		return level<N - 1>(x + 1) + 1;
	}
	return level<N - 1>(x + 1) + 1;
}

template <> NOINLINE int level<0>(int x)
{
	if (x >= zero)
		throw std::runtime_error("from below");
	return x;
}

NOINLINE static int caught()
{
	try {
		return level<9>(1);
	} catch (const std::exception &e) {
		return e.what()[0] == 'f';
	}
}

static double now_ns()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 10000, sum = 0;
	double start = 0;

	// the first time makes the contexts
	for (int timed = 0; timed < 2; timed++) {
		start = now_ns();
		for (long i = timed ? 0 : count / 10 * 9; i < count; i++)
			sum += caught();
	}
	printf("throw %.1f\n", (now_ns() - start) / (double)count);
	return sum < count;
}
