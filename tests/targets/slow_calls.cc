/* slow_calls MODE [ARGUMENT]: calls of handle(id), some of which are slow in a
 * known way, and lines that say how many there were.
 *
 *   causes   one call of 400 each: a loop that is 600 times as long, a callee
 *            that runs longer, a sleep of 3 ms
 *   storm N  N slow calls one after the other, in four threads
 *   leave    handle is left by exceptions and by longjmp
 *   nested   handle calls itself, and outer() calls handle
 *   forks    the child makes slow calls of its own
 *   open     handle does not return: the process is to be killed
 *   tail     every call is made by handle_first, which jumps to handle
 *   one      a single call */

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static thread_local volatile unsigned long sink;

extern "C" {

__attribute__((noinline, noipa)) void step(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink + i;
}

__attribute__((noinline, noipa)) void search(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step(10);
}

__attribute__((noinline, noipa)) void compute(unsigned n)
{
	step(1);
	for (unsigned i = 0; i < n; i++)
		sink = sink + i;
}

__attribute__((noinline, noipa)) void nap(unsigned ms)
{
	struct timespec time = {0, ms * 1000000L};

	if (ms)
		nanosleep(&time, nullptr);
	step(1);
}

__attribute__((noinline, noipa)) int handle(unsigned id)
{
	search(id % 400 == 100 ? 6000 : 10);
	compute(id % 400 == 200 ? 1000000 : 100);
	nap(id % 400 == 300 ? 3 : 0);
	return (int)(sink & 1);
}

/* All of it is a jump. */
__attribute__((noinline, noipa, optimize("optimize-sibling-calls"))) int
handle_first(unsigned id)
{
	return handle(id);
}

__attribute__((noinline, noipa)) void handle_error(unsigned id)
{
	search(id % 10 == 3 ? 4000 : 5);
	if (id % 2)
		throw std::runtime_error("left");
}

static jmp_buf out;

__attribute__((noinline, noipa)) void handle_jump(unsigned id)
{
	search(id % 10 == 3 ? 4000 : 5);
	if (id % 2)
		longjmp(out, 1);
}

__attribute__((noinline, noipa)) int handle_nested(unsigned depth)
{
	search(200);
	return depth ? handle_nested(depth - 1) + 1 : 0;
}

__attribute__((noinline, noipa)) int outer(unsigned id)
{
	step(10);
	return handle(id) + 1;
}
}

static void storm(unsigned calls)
{
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < 4; t++)
		threads.emplace_back([calls] {
			for (unsigned i = 0; i < calls; i++)
				handle(100);
		});
	for (std::thread &thread : threads)
		thread.join();
}

static void leave()
{
	for (unsigned i = 0; i < 100; i++)
		try {
			handle_error(i);
		} catch (const std::exception &) {
			step(1);
		}
	for (volatile unsigned i = 0; i < 100; i = i + 1)
		if (!setjmp(out))
			handle_jump(i);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "causes";
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 2000;

	if (strcmp(mode, "causes") == 0) {
		for (unsigned i = 0; i < count; i++)
			handle(i);
	} else if (strcmp(mode, "tail") == 0) {
		for (unsigned i = 0; i < count; i++)
			handle_first(i);
	} else if (strcmp(mode, "storm") == 0) {
		storm(count);
	} else if (strcmp(mode, "leave") == 0) {
		leave();
	} else if (strcmp(mode, "nested") == 0) {
		for (unsigned i = 0; i < 50; i++)
			handle_nested(9);
		for (unsigned i = 0; i < 800; i++)
			outer(i);
	} else if (strcmp(mode, "forks") == 0) {
		pid_t child;

		handle(100);
		child = fork();
		for (unsigned i = 0; i < 800; i++)
			handle(i);
		if (!child)
			_exit(0);
		waitpid(child, nullptr, 0);
	} else if (strcmp(mode, "open") == 0) {
		for (unsigned i = 0; i < 20; i++)
			handle(i);
		puts("open");
		fflush(stdout);
		for (;;)
			outer(300);
	} else {
		handle(100);
	}
	puts("done");
	return 0;
}
