// build: -fno-inline -fno-optimize-sibling-calls -pthread
// More call edges than a thread has thunks for
// (src/runtime/hooks/thread_thunks.c): 13 functions, each called from two
// places in the one above, so 8191 contexts, all of them called again and
// again. `crowd ROUNDS WHAT...`: says how often each function was called. WHAT:
// "throw", now and then the last one throws past six others; "jump", or goes
// back to main by longjmp; "signals", a handler that comes all the time calls
// the upper part of the tree; "thread", a second thread does the same; "fork",
// a child goes on from the midst of a call.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static long calls[13];
static bool throws, jumps;
static volatile pid_t child;

struct walk {
	long leaf, special;
	jmp_buf back;
};

static inline __attribute__((always_inline)) void count(int level)
{
	__atomic_fetch_add(&calls[level], 1, __ATOMIC_RELAXED);
}

extern "C" {

__attribute__((noinline)) long level_12(walk *w)
{
	count(12);
	if (++w->leaf == w->special) {
		if (throws)
			throw w->leaf;
		if (jumps)
			longjmp(w->back, 1);
	}
	if (child == -1 && w->leaf == 1000)
		child = fork();
	return w->leaf;
}

#define LEVEL(n, next) \
	__attribute__((noinline)) long level_##n(walk *w) \
	{ \
		count(n); \
		long x = level_##next(w); \
		return x ^ level_##next(w); \
	}

LEVEL(11, 12)
LEVEL(10, 11)
LEVEL(9, 10)
LEVEL(8, 9)
LEVEL(7, 8)

__attribute__((noinline)) long level_6(walk *w)
{
	count(6);
	try {
		long x = level_7(w);
		return x ^ level_7(w);
	} catch (long leaf) {
		return leaf;
	}
}

LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)
LEVEL(0, 1)
}

static void handler(int)
{
	walk w = {};

	level_8(&w);
}

static void go(int rounds)
{
	walk w;

	for (int i = 0; i < rounds; i++) {
		w.leaf = 0;
		w.special = 1 + i * 7919L % 4096;
		if (!setjmp(w.back))
			level_0(&w);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	itimerval often = {{0, 500}, {0, 500}}, never = {};
	std::thread other;

	for (int i = 2; i < argc; i++) {
		throws |= !strcmp(argv[i], "throw");
		jumps |= !strcmp(argv[i], "jump");
		if (!strcmp(argv[i], "fork"))
			child = -1;
		if (!strcmp(argv[i], "thread"))
			other = std::thread(go, rounds);
		if (!strcmp(argv[i], "signals")) {
			signal(SIGALRM, handler);
			setitimer(ITIMER_REAL, &often, nullptr);
		}
	}
	go(rounds);
	setitimer(ITIMER_REAL, &never, nullptr);
	if (other.joinable())
		other.join();
	if (child > 0)
		waitpid(child, nullptr, 0);
	for (int i = 0; i < 13; i++)
		printf("level_%d %ld\n", i, calls[i]);
	return 0;
}
