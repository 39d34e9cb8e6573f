// build: -O1 -pthread -fnon-call-exceptions -fno-optimize-sibling-calls
// A stack overflows; the signal's handler, on a stack of its own, throws, and
// whoever began the recursion catches, on a thread and in main.
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <sys/resource.h>

static volatile long sink, signals;

struct overflow {
};

static void handle(int)
{
	sigset_t set;

	signals = signals + 1;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
	throw overflow();
}

__attribute__((noipa)) long descend(long depth)
{
	sink = depth;
	return descend(depth + 1) + sink;
}

__attribute__((noipa)) long few(long n)
{
	sink = n;
	return n ? few(n - 1) + sink : descend(0);
}

static void *run(void *)
{
	static thread_local char memory[64 << 10];
	stack_t stack = {};
	int caught = 0;

	stack.ss_sp = memory;
	stack.ss_size = sizeof(memory);
	sigaltstack(&stack, nullptr);
	for (int i = 0; i < 3; i++) {
		try {
			sink = few(3);
		} catch (const overflow &) {
			caught++;
		}
	}
	std::printf("%d of %ld\n", caught, signals);
	return nullptr;
}

int main()
{
	struct sigaction action = {};
	struct rlimit limit = {1 << 20, 1 << 20};
	pthread_attr_t attributes;
	pthread_t thread;

	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &action, nullptr);
	setrlimit(RLIMIT_STACK, &limit);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 512 << 10);
	pthread_create(&thread, &attributes, run, nullptr);
	pthread_join(thread, nullptr);
	run(nullptr);
	return 0;
}
