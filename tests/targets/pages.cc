// build: -g -pthread -lnames
// For the HTML page: named threads, recursion, an exception, calls of one
// function from two lines, and names (libnames.S) that could be taken for
// markup. pages N: N more calls in a loop.
#include <pthread.h>
#include <cstdio>
#include <cstdlib>

#define KEEP __attribute__((noinline, noclone))

extern "C" void call_names(void);

static volatile int sink;

KEEP int leaf(int n)
{
	sink = n;
	return n + sink;
}

KEEP int twice(int n)
{
	int sum = leaf(n);

	sum += leaf(n + 1);
	return sum + sink;
}

KEEP int fib(int n)
{
	return n < 2 ? leaf(n) & 1 : fib(n - 1) + fib(n - 2);
}

KEEP void thrower(int n)
{
	if (leaf(n) >= 0)
		throw n;
}

KEEP int catcher(int n)
{
	try {
		thrower(n);
	} catch (int caught) {
		return caught + sink;
	}
	return sink;
}

static void *left(void *)
{
	pthread_setname_np(pthread_self(), "left");
	for (int i = 0; i < 100; i++)
		twice(i);
	return nullptr;
}

static void *right(void *)
{
	pthread_setname_np(pthread_self(), "<b>right");
	for (int i = 0; i < 7; i++)
		catcher(i);
	fib(12);
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int more = argc > 1 ? atoi(argv[1]) : 0;

	pthread_create(&threads[0], nullptr, left, nullptr);
	pthread_create(&threads[1], nullptr, right, nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	for (int i = 0; i < 5; i++)
		twice(i);
	for (int i = 0; i < more; i++)
		leaf(i);
	call_names();
	puts("done");
	return 0;
}
