/* Does much of what a program can be interrupted in, in many threads, and
 * checks each result: for who attaches to it again and again. No signal has a
 * handler, so no call ends with EINTR, and what is written to a pipe is written
 * whole. Ends when the file of its first argument is there; prints what it has
 * done. */

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

namespace
{

std::atomic<bool> over;
std::atomic<long> rounds, wrong, interrupted, cut, least_rounds[16];

void check(bool good, const char *what)
{
	if (good)
		return;
	wrong++;
	fprintf(stderr, "wrong: %s\n", what);
}

/* The result of a call that has no reason to fail. */
long call(long result, const char *what)
{
	if (result < 0 && errno == EINTR) {
		interrupted++;
		fprintf(stderr, "interrupted: %s\n", what);
	} else {
		check(result >= 0, what);
	}
	return result;
}

long whole(long result, long wanted, const char *what)
{
	if (call(result, what) >= 0 && result != wanted) {
		cut++;
		fprintf(stderr, "cut short: %s, %ld of %ld\n", what, result,
			wanted);
	}
	return result;
}

/* ----------------------------------------------------------- what computes */

KEEP long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEEP long deep(long n)
{
	volatile long here = n;

	return n ? deep(n - 1) + here - n + 1 : 0;
}

KEEP void compute()
{
	check(fib(15) == 610, "fib");
	check(deep(3000) == 3000, "deep");
}

struct Counted {
	long &count;
	~Counted()
	{
		count++;
	}
};

KEEP void throw_from(int depth, long &ended)
{
	Counted counted{ended};

	if (!depth)
		throw std::runtime_error("thrown");
	throw_from(depth - 1, ended);
}

KEEP void throws()
{
	long ended = 0;

	try {
		throw_from(20, ended);
		check(false, "not thrown");
	} catch (const std::exception &e) {
		check(ended == 21 && !strcmp(e.what(), "thrown"), "exception");
	}
}

KEEP void jump_from(jmp_buf &to, int depth)
{
	if (depth)
		jump_from(to, depth - 1);
	else
		longjmp(to, 7);
}

KEEP void jumps()
{
	jmp_buf here;
	int how = setjmp(here);

	if (!how)
		jump_from(here, 10);
	check(how == 7, "longjmp");
}

struct Fiber {
	ucontext_t caller, own;
	long value = 0;
	char stack[64 << 10];
};

thread_local Fiber *current;

KEEP void step_fiber()
{
	current->value += fib(5);
	swapcontext(&current->own, &current->caller);
}

void run_fiber()
{
	for (;;)
		step_fiber();
}

KEEP void fibers()
{
	thread_local Fiber fiber;

	if (!current) {
		current = &fiber;
		getcontext(&fiber.own);
		fiber.own.uc_stack.ss_sp = fiber.stack;
		fiber.own.uc_stack.ss_size = sizeof(fiber.stack);
		makecontext(&fiber.own, run_fiber, 0);
	}
	long before = fiber.value;
	for (int i = 0; i < 10; i++)
		swapcontext(&fiber.caller, &fiber.own);
	check(fiber.value == before + 50, "fiber");
}

KEEP void containers()
{
	std::map<std::string, long> map;
	std::vector<long> numbers;

	for (long i = 0; i < 200; i++) {
		map[std::to_string(i * 7919 % 200)] = i;
		numbers.push_back(i * 7919 % 200);
	}
	std::sort(numbers.begin(), numbers.end(),
		  [](long a, long b) { return a < b; });
	check(map.size() == 200 && numbers[7] == 7, "containers");
}

/* -------------------------------------------------------------- what waits */

KEEP void writes(int to, int from)
{
	static const size_t bytes = 300000;
	std::vector<char> data(bytes, 'w'), read_back(bytes);
	std::thread reader([&] {
		size_t done = 0;

		while (done < bytes) {
			long n = call(
				read(from, &read_back[done], bytes - done),
				"read");
			if (n <= 0) // the rest does not come
				return;
			done += (size_t)n;
			std::this_thread::sleep_for(
				std::chrono::microseconds(300));
		}
	});

	whole(write(to, data.data(), bytes), (long)bytes, "write");
	close(to);
	reader.join();
	check(data == read_back, "what was written");
}

KEEP void pipes()
{
	int ends[2];

	if (call(pipe(ends), "pipe") < 0)
		return;
	writes(ends[1], ends[0]);
	close(ends[0]);
}

KEEP void sockets()
{
	int ends[2];
	char message[1000] = {'m'}, got[1000];

	if (call(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair") < 0)
		return;
	std::thread sender([&] {
		for (size_t i = 0; i < sizeof(message); i += 100) {
			whole(send(ends[1], message + i, 100, 0), 100, "send");
			std::this_thread::sleep_for(
				std::chrono::microseconds(500));
		}
	});
	whole(recv(ends[0], got, sizeof(got), MSG_WAITALL), sizeof(got),
	      "recv with MSG_WAITALL");
	sender.join();
	check(!memcmp(message, got, sizeof(got)), "what was sent");
	close(ends[0]);
	close(ends[1]);
}

KEEP void naps()
{
	using clock = std::chrono::steady_clock;
	static thread_local int poller = epoll_create1(EPOLL_CLOEXEC);
	auto begin = clock::now();
	epoll_event event;

	check(call(epoll_wait(poller, &event, 1, 5), "epoll_wait") == 0,
	      "events");
	timespec nap = {0, 5000000};
	call(nanosleep(&nap, nullptr), "nanosleep");
	check(clock::now() - begin >= std::chrono::milliseconds(10),
	      "naps that are too short");
}

std::mutex lock;
std::condition_variable changed;
long turn;

KEEP void turns(long parity)
{
	std::unique_lock<std::mutex> held(lock);

	changed.wait(held, [&] { return over || turn % 2 == parity; });
	if (!over)
		turn++;
	changed.notify_all();
}

/* (No system(): it blocks SIGCHLD, so that this signal natively wakes another
 * thread and cuts its write.) */
KEEP void children()
{
	pid_t child = fork();

	if (!child)
		_exit(fib(10) == 55 ? 3 : 4);
	if (call(child, "fork") < 0)
		return;
	int status = 0;
	call(waitpid(child, &status, 0), "waitpid");
	char text[40];
	snprintf(text, sizeof(text), "child's status %#x", (unsigned)status);
	check(status == 3 << 8, text);
}

KEEP void libraries()
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	auto checksum = reinterpret_cast<unsigned long (*)(
		unsigned long, const char *, unsigned)>(
		dlsym(library, "crc32"));
	check(checksum && checksum(0, "swizzle", 7) != 0, "library");
	dlclose(library);
	usleep(2000);
}

KEEP void threads()
{
	std::atomic<long> sum{0};
	std::vector<std::thread> made;

	for (int i = 0; i < 4; i++)
		made.emplace_back([&sum] { sum += fib(10); });
	for (auto &thread : made)
		thread.join();
	check(sum == 220, "threads");
	usleep(1000);
}

KEEP void first_turns()
{
	turns(0);
}

KEEP void second_turns()
{
	turns(1);
}

void repeat(void (*work)(), int which)
{
	while (!over) {
		work();
		rounds++;
		least_rounds[which]++;
		if (which < 6)
			usleep(500);
	}
	std::lock_guard<std::mutex> held(lock);
	changed.notify_all();
}

} // namespace

int main(int argc, char **argv)
{
	void (*const work[])() = {
		compute,     throws,       jumps,  fibers,  containers,
		first_turns, second_turns, pipes,  sockets, naps,
		children,    libraries,    threads};
	std::vector<std::thread> all;
	int count = 0;

	if (argc < 2)
		return 2;
	for (auto each : work)
		all.emplace_back(repeat, each, count++);
	while (access(argv[1], F_OK))
		call(usleep(10000), "usleep");
	over = true;
	for (auto &thread : all)
		thread.join();
	for (int i = 0; i < count; i++)
		check(least_rounds[i] > 0, "a thread that has done nothing");
	printf("rounds %ld wrong %ld interrupted %ld short %ld\n",
	       rounds.load(), wrong.load(), interrupted.load(), cut.load());
	return wrong || interrupted || cut;
}
