// build: -O2 -pthread -fno-inline-functions -fno-optimize-sibling-calls
// The ways a process ends: ends WAY
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define KEEP __attribute__((noinline, noclone))

static volatile long sink;
static int *volatile nowhere;

KEEP long work(long n)
{
	sink = n;
	return n + 1;
}

KEEP static void at_end()
{
	work(1);
	work(2);
}

struct object {
	KEEP ~object()
	{
		work(3);
	}
};

static object global;

KEEP static void *exit_in_thread(void *)
{
	exit(9);
}

static const char *way;

KEEP int end_now()
{
	if (!strcmp(way, "exit"))
		exit(3);
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "quick_exit"))
		quick_exit(5);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "return"))
		return 6;
	if (!strcmp(way, "fault"))
		*nowhere = 1;
	if (!strcmp(way, "trap"))
		__builtin_trap();
	if (!strcmp(way, "throw"))
		throw std::runtime_error("nobody catches this");
	if (!strcmp(way, "divide"))
		return static_cast<int>(7 / (sink - sink));
	if (!strcmp(way, "thread")) {
		pthread_t thread;

		pthread_create(&thread, nullptr, exit_in_thread, nullptr);
		pthread_join(thread, nullptr);
	}
	if (!strcmp(way, "main-thread")) {
		pthread_exit(nullptr);
	}
	// who started the test may have told its children to ignore it
	signal(atoi(way), SIG_DFL);
	raise(atoi(way));
	return 7;
}

KEEP int below(int depth)
{
	return depth ? below(depth - 1) : end_now();
}

int main(int argc, char **argv)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	way = argc > 1 ? argv[1] : "return";
	atexit(at_end);
	at_quick_exit(at_end);
	for (int i = 0; i < 1000; i++)
		work(i);
	return below(9);
}
