/* What a hooked call costs: "calls COUNT [CASE...]" prints "CASE ns", the time
 * of one call and return (or, for "floor", of two rdtsc), for each case. Run
 * natively and under profilers in turn by tests/bench/run; the difference is
 * what profiling adds. Times are the thread's processor time around many calls.
 *
 * With -finstrument-functions and the like nothing but the functions that are
 * called is to be instrumented, hence BARE. */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#define BARE __attribute__((noinline, xray_never_instrument))
#else
#define NOINLINE __attribute__((noinline, noclone, noipa))
#define BARE NOINLINE __attribute__((no_instrument_function))
#endif

/* Five bytes, so that there is room for a jump. */
#define NOTHING __asm__ volatile("movl $0, %%eax" : : : "eax")

BARE static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

NOINLINE void leaf(void)
{
	NOTHING;
}

/* Nine calls deep: each calls the next once. In the first family a prologue
 * comes before the call, as in most functions; in the second the call itself is
 * displaced by the patch. */
#define PROLOGUE __asm__ volatile("" : : : "rbx", "r12", "r13", "r14")
#define NEST(name, next, prologue) \
	NOINLINE void name(void) \
	{ \
		prologue; \
		next(); \
		__asm__ volatile(""); \
	}
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

/* Every call is made, as a call: */
NOINLINE long fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
	a = fib(n - 1);
	b = fib(n - 2);
	__asm__ volatile("" : "+r"(b));
	return a + b;
}

BARE static void run_floor(long calls)
{
	uint64_t sum = 0;

	for (long i = 0; i < calls; i++) {
		sum -= rdtsc();
		sum += rdtsc();
	}
	__asm__ volatile("" : : "r"(sum));
}

BARE static void run_flat(long calls)
{
	for (long i = 0; i < calls; i++)
		leaf();
}

BARE static void run_nested(long calls)
{
	for (long left = calls; left > 0; left -= 9)
		nest2();
}

BARE static void run_displaced(long calls)
{
	for (long left = calls; left > 0; left -= 9)
		bare2();
}

/* fib(25) is 242,785 calls. */
#define FIB_CALLS 242785
BARE static void run_fib(long calls)
{
	for (long left = calls; left > 0; left -= FIB_CALLS)
		fib(25);
}

/* One call site, eight functions in an order that no predictor learns. */
#define TARGET(n) \
	NOINLINE void target##n(void) \
	{ \
		NOTHING; \
	}
TARGET(0)
TARGET(1)
TARGET(2)
TARGET(3)
TARGET(4)
TARGET(5)
TARGET(6)
TARGET(7)

BARE static void run_targets(long calls)
{
	static void (*const targets[8])(void) = {
		target0, target1, target2, target3,
		target4, target5, target6, target7,
	};
	uint64_t x = 88172645463325252u;

	for (long i = 0; i < calls; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		targets[x >> 61]();
	}
}

/* One function that calls another from a thousand places. */
#define TEN(x) x x x x x x x x x x
NOINLINE void thousand(void)
{
	TEN(TEN(TEN(leaf();)))
	__asm__ volatile("");
}

BARE static void run_sites(long calls)
{
	for (long left = calls; left > 0; left -= 1001)
		thousand();
}

/* A tree of 1,111,111 contexts: each function calls the next from ten places.
 */
#define BRANCH(name, next) \
	NOINLINE void name(void) \
	{ \
		TEN(next();) __asm__ volatile(""); \
	}
BRANCH(branch6, leaf)
BRANCH(branch5, branch6)
BRANCH(branch4, branch5)
BRANCH(branch3, branch4)
BRANCH(branch2, branch3)
BRANCH(branch1, branch2)

#define TREE_CALLS 1111111
BARE static void run_contexts(long calls)
{
	for (long left = calls; left > 0; left -= TREE_CALLS)
		branch1();
}

/* A recursion that goes so deep and comes back. */
NOINLINE long down(long n)
{
	long below = 0;

	NOTHING;
	if (n > 1)
		below = down(n - 1);
	__asm__ volatile("" : "+r"(below));
	return below + n;
}

#define DEEP(depth) \
	BARE static void run_deep##depth(long calls) \
	{ \
		for (long left = calls; left > 0; left -= depth) \
			down(depth); \
	}
DEEP(8)
DEEP(32)
DEEP(128)
DEEP(1000)
DEEP(100000)

/* A setjmp and a longjmp over two frames, from two depths of the stack in turn:
 * four or five calls each, counted as one. */
static jmp_buf *handler;
static volatile long failures;

NOINLINE void fail(void)
{
	NOTHING;
	longjmp(*handler, 1);
}

NOINLINE void between(void)
{
	NOTHING;
	fail();
	__asm__ volatile("");
}

NOINLINE void attempt(void)
{
	jmp_buf buffer;

	handler = &buffer;
	if (_setjmp(buffer))
		failures++;
	else
		between();
}

NOINLINE void deeper(void)
{
	volatile char room[200];

	room[failures % 200] = 1;
	attempt();
	__asm__ volatile("");
}

BARE static void run_longjmp(long calls)
{
	for (long i = 0; i < calls; i++)
		if (i & 1)
			deeper();
		else
			attempt();
}

static inline __attribute__((always_inline)) long whole(long calls, long unit)
{
	return (calls + unit - 1) / unit * unit;
}

static long threads_calls;
static pthread_barrier_t together;

BARE static void *run_thread(void *nanoseconds)
{
	double start;

	run_fib(threads_calls / 10);
	run_flat(threads_calls / 10);
	pthread_barrier_wait(&together);
	start = now_ns();
	run_fib(threads_calls);
	run_flat(threads_calls);
	*(double *)nanoseconds = now_ns() - start;
	return NULL;
}

/* Recursive and flat calls in one thread, or two at once: the mean per call. */
BARE static void measure_threads(const char *name, int count, long calls)
{
	double ns[2], sum = 0;
	pthread_t threads[2];

	calls = whole(calls, FIB_CALLS);
	threads_calls = calls;
	pthread_barrier_init(&together, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run_thread, &ns[i]);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	pthread_barrier_destroy(&together);
	printf("%s %.3f\n", name, sum / count / 2 / (double)calls);
}

BARE static void measure(const char *name, void (*run)(long), long calls,
			 long unit)
{
	volatile int times = 2; /* not unrolled */
	double start = 0;

	calls = whole(calls, unit);
	/* from one place, so that the first time has made the contexts */
	for (int timed = 0; timed < times; timed++) {
		start = now_ns();
		run(timed ? calls : calls / 10);
	}
	printf("%s %.3f\n", name, (now_ns() - start) / (double)calls);
}

/* Each context for the first time. */
BARE static void measure_new(void)
{
	double start = now_ns();

	run_contexts(TREE_CALLS);
	printf("new %.3f\n", (now_ns() - start) / TREE_CALLS);
}

static const struct {
	const char *name;
	void (*run)(long);
	long unit; /* calls are made in multiples of this */
} cases[] = {
	{"floor", run_floor, 1},
	{"flat", run_flat, 1},
	{"nested", run_nested, 9},
	{"displaced", run_displaced, 9},
	{"fib", run_fib, FIB_CALLS},
	{"targets", run_targets, 1},
	{"sites", run_sites, 1001},
	{"contexts", run_contexts, TREE_CALLS},
	{"deep8", run_deep8, 8},
	{"deep32", run_deep32, 32},
	{"deep128", run_deep128, 128},
	{"deep1000", run_deep1000, 1000},
	{"deep100000", run_deep100000, 100000},
	{"longjmp", run_longjmp, 1},
};

BARE static int wanted(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc < 3;
}

BARE int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 10000000;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (wanted(cases[i].name, argc, argv))
			measure(cases[i].name, cases[i].run, calls,
				cases[i].unit);
	if (wanted("new", argc, argv))
		measure_new();
	if (wanted("thread", argc, argv))
		measure_threads("thread", 1, calls);
	if (wanted("threads", argc, argv))
		measure_threads("threads", 2, calls);
	return 0;
}
