/* What a hooked call costs: prints "NAME ns" for each case, the time of one
 * call and return of an empty function (or, for "floor", of two rdtsc). Run
 * natively and profiled in turn by tests/bench/run; the difference is what
 * profiling adds. Times by clock_gettime around many calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

/* nine calls deep: each calls the next once */
NOINLINE void nest9(void) { leaf(); __asm__ volatile(""); }
NOINLINE void nest8(void) { nest9(); __asm__ volatile(""); }
NOINLINE void nest7(void) { nest8(); __asm__ volatile(""); }
NOINLINE void nest6(void) { nest7(); __asm__ volatile(""); }
NOINLINE void nest5(void) { nest6(); __asm__ volatile(""); }
NOINLINE void nest4(void) { nest5(); __asm__ volatile(""); }
NOINLINE void nest3(void) { nest4(); __asm__ volatile(""); }
NOINLINE void nest2(void) { nest3(); __asm__ volatile(""); }

NOINLINE long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static void run_floor(long calls)
{
	uint64_t sum = 0;

	for (long i = 0; i < calls; i++) {
		sum -= rdtsc();
		sum += rdtsc();
	}
	__asm__ volatile("" : : "r"(sum));
}

NOINLINE static void run_flat(long calls)
{
	for (long i = 0; i < calls; i++)
		leaf();
}

NOINLINE static void run_nested(long calls)
{
	for (long i = 0; i < calls / 9; i++)
		nest2();
}

/* fib(27) is 832,039 calls */
NOINLINE static void run_fib(long calls)
{
	for (long i = 0; i < calls / 832039; i++)
		fib(27);
}

static void measure(const char *name, void (*run)(long), long calls)
{
	double start;

	run(calls / 10);
	start = now_ns();
	run(calls);
	printf("%s %.3f\n", name, (now_ns() - start) / (double)calls);
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 832039 * 12;

	measure("floor", run_floor, calls);
	measure("flat", run_flat, calls);
	measure("nested", run_nested, calls);
	measure("fib", run_fib, calls);
	return 0;
}
