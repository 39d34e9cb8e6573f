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

/* Nine calls deep: each calls the next once. In the first family a prologue
 * comes before the call, as in most functions; in the second the call itself is
 * displaced by the patch. */
#define PROLOGUE __asm__ volatile("" : : : "rbx", "r12", "r13", "r14")
#define NEST(name, next, prologue) \
	NOINLINE void name(void) { prologue; next(); __asm__ volatile(""); }
NEST(nest9, leaf, PROLOGUE)
NEST(nest8, nest9, PROLOGUE)
NEST(nest7, nest8, PROLOGUE)
NEST(nest6, nest7, PROLOGUE)
NEST(nest5, nest6, PROLOGUE)
NEST(nest4, nest5, PROLOGUE)
NEST(nest3, nest4, PROLOGUE)
NEST(nest2, nest3, PROLOGUE)
NEST(bare9, leaf, )
NEST(bare8, bare9, )
NEST(bare7, bare8, )
NEST(bare6, bare7, )
NEST(bare5, bare6, )
NEST(bare4, bare5, )
NEST(bare3, bare4, )
NEST(bare2, bare3, )

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

NOINLINE static void run_displaced(long calls)
{
	for (long i = 0; i < calls / 9; i++)
		bare2();
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
	measure("displaced", run_displaced, calls);
	measure("fib", run_fib, calls);
	return 0;
}
