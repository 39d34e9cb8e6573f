// build: -O2 -pthread -fno-inline -fno-ipa-cp -fno-ipa-pure-const
// Exceptions that pass deep recursions, while a timer's handler calls functions
// all the time, wherever it comes: in the unwinder, in hooks, at a landing.
// ticks [ROUNDS] prints how often each function was called.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sys/time.h>

#define COUNTED extern "C" __attribute__((noinline, noclone))
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))

enum { DOWN, TURN, LEAF, CLEAN, JUMP, TICK, KINDS };
static const char *const names[KINDS] = {"down",     "turn_back", "leaf",
					 "clean_up", "jump",      "on_tick"};
static std::atomic<long> calls[KINDS];
static volatile long sink;
static long rounds = 400;
static thread_local unsigned state;
static thread_local int left;

static unsigned draw(unsigned below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 16) % below;
}

COUNTED long leaf(long n)
{
	calls[LEAF]++;
	sink += n;
	return n;
}

COUNTED long jump(long n)
{
	calls[JUMP]++;
	return leaf(n + 1);
}

COUNTED void clean_up()
{
	calls[CLEAN]++;
	leaf(1);
}

struct cleaned {
	~cleaned()
	{
		clean_up();
	}
};

COUNTED long turn_back(long n);

COUNTED PLAIN long down(long n, long (*last)(long))
{
	calls[DOWN]++;
	if (n % 16 == 3)
		jump(n);
	return n ? down(n - 1, last) + sink % 2 : last(0);
}

// Goes on deeper, or throws, which one of those above catches.
COUNTED PLAIN long turn_back(long n)
{
	cleaned at_end;

	calls[TURN]++;
	if (n > 3 || --left < 0)
		throw 7;
	try {
		return down(draw(120), turn_back) +
		       (draw(2) ? turn_back(n + 1) : jump(n));
	} catch (int e) {
		if (draw(4) == 0)
			throw;
		return e;
	}
}

COUNTED void on_tick(int)
{
	calls[TICK]++;
	down(20, jump);
}

static void *run(void *seed)
{
	state = static_cast<unsigned>(reinterpret_cast<long>(seed));
	for (long i = 0; i < rounds; i++)
		try {
			left = 12;
			turn_back(draw(4));
		} catch (int) {
		}
	return nullptr;
}

int main(int argc, char **argv)
{
	const itimerval often = {{0, 100}, {0, 100}}, never = {};
	struct sigaction action = {};
	pthread_t threads[3];

	if (argc > 1)
		rounds = atol(argv[1]);
	action.sa_handler = on_tick;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	setitimer(ITIMER_REAL, &often, nullptr);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], nullptr, run,
			       reinterpret_cast<void *>(i + 1));
	run(reinterpret_cast<void *>(4l));
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	setitimer(ITIMER_REAL, &never, nullptr);
	for (int i = 0; i < KINDS; i++)
		printf("%s %ld ", names[i], calls[i].load());
	puts("");
	return 0;
}
