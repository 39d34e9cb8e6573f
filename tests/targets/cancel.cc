// build: -O2 -pthread -fno-inline-functions
// Threads that end in nested frames: cancel exit|deferred|asynchronous|busy
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#define KEEP __attribute__((noinline, noclone))

static std::atomic<int> destroyed, cleaned, started;
static volatile int go_on = 1;
static const char *mode;

struct guard {
	KEEP ~guard()
	{
		destroyed++;
	}
};

KEEP static void on_cleanup(void *)
{
	cleaned++;
}

KEEP long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// Without cleanups of its own: it may be left at any instruction, which may be
// one of a hook.
KEEP static int busy()
{
	long sum = 0;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	while (go_on)
		sum += fib(12);
	return static_cast<int>(sum);
}

static int (*volatile may_throw)() = busy;

KEEP int bottom()
{
	started++;
	if (!strcmp(mode, "busy"))
		return may_throw();
	if (!strcmp(mode, "exit"))
		pthread_exit(reinterpret_cast<void *>(7));
	if (!strcmp(mode, "deferred"))
		for (;;)
			usleep(1000);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	while (go_on)
		;
	return 1;
}

KEEP int nest(int depth)
{
	guard g;
	int result = 0;

	pthread_cleanup_push(on_cleanup, nullptr);
	result = depth ? nest(depth - 1) + 1 : bottom();
	pthread_cleanup_pop(0);
	return result;
}

KEEP static void *run(void *)
{
	nest(19);
	return nullptr;
}

int main(int argc, char **argv)
{
	int canceled = 0, ended = 0;

	mode = argc > 1 ? argv[1] : "exit";
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, nullptr, run, nullptr);
		if (strcmp(mode, "exit") != 0) {
			while (started <= i)
				usleep(100);
			if (strcmp(mode, "deferred") != 0)
				usleep(1000 + 7 * i); // the type is set
			pthread_cancel(thread);
		}
		pthread_join(thread, &result);
		canceled += result == PTHREAD_CANCELED;
		ended += result == reinterpret_cast<void *>(7);
	}
	printf("%d canceled, %d ended, %d destroyed, %d cleaned\n", canceled,
	       ended, destroyed.load(), cleaned.load());
	return 0;
}
