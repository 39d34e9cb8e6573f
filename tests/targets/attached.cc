/* Does what it is told, a line at a time, and answers with a line: for tests
 * that attach to it while it waits, or works. */

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

extern "C" {
__attribute__((noinline)) long step(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

__attribute__((noinline)) long nested(long depth)
{
	long below = depth ? nested(depth - 1) : 0;

	__asm__ volatile("" ::: "memory");
	return below + 1;
}
}

struct Counted {
	long *count;
	~Counted()
	{
		++*count;
	}
};

__attribute__((noinline)) static long throw_from(long depth, long *count)
{
	Counted here{count};

	if (depth == 0)
		throw std::runtime_error("thrown");
	return throw_from(depth - 1, count) + 1;
}

/* How often something else than the right thing has happened. */
static long throw_often(long times)
{
	long wrong = 0;

	for (long i = 0; i < times; i++) {
		long count = 0;

		try {
			throw_from(i % 20, &count);
			wrong++;
		} catch (const std::runtime_error &) {
			wrong += count != i % 20 + 1;
		}
	}
	return wrong;
}

/* Waits for a line with so many frames open, and throws through them. */
__attribute__((noinline)) static long hold(long depth, long *count)
{
	Counted here{count};

	if (depth == 0) {
		char line[64];

		printf("holding\n");
		if (fgets(line, sizeof(line), stdin))
			throw std::runtime_error("let go");
		return 0;
	}
	return hold(depth - 1, count) + 1;
}

static long let_go(long depth)
{
	long count = 0;

	try {
		hold(depth, &count);
	} catch (const std::runtime_error &) {
		return count != depth + 1;
	}
	return 1;
}

static void run(long times)
{
	for (long i = 0; i < times; i++)
		step(i);
}

static void in_threads(long times)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(run, times);
	for (auto &t : threads)
		t.join();
}

static int in_child(long times)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		run(times);
		_exit(7);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Children that come to no function of this file, and run exit handlers. */
static long ended_children(long count)
{
	long good = 0;

	for (long i = 0; i < count; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0)
			exit(7);
		waitpid(child, &status, 0);
		good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	return good;
}

static void read_line()
{
	char line[64];

	(void)!fgets(line, sizeof(line), stdin);
}

/* Throws in eight threads until a line comes. */
static long throwing()
{
	std::atomic<bool> stop{false};
	std::atomic<long> wrong{0};
	std::vector<std::thread> threads;

	for (int i = 0; i < 8; i++)
		threads.emplace_back([&] {
			while (!stop)
				wrong += throw_often(100);
		});
	read_line();
	stop = true;
	for (auto &t : threads)
		t.join();
	return wrong;
}

/* Waits for half a second in a system call: 0, or what it returned with errno.
 */
static int wait_by(const std::string &how)
{
	struct timespec half = {0, 500000000};
	struct timeval also_half = {0, 500000};
	struct pollfd nothing = {-1, POLLIN, 0};
	struct epoll_event event;
	int result = -1;

	errno = 0;
	if (how == "sleep")
		result = nanosleep(&half, NULL);
	else if (how == "poll")
		result = poll(&nothing, 1, 500);
	else if (how == "select")
		result = select(0, NULL, NULL, NULL, &also_half);
	else if (how == "epoll")
		result = epoll_wait(epoll_create1(0), &event, 1, 500);
	return result ? errno : 0;
}

/* Until a line comes: how often a wait did not end as it should. */
static long waits(const std::string &how)
{
	struct pollfd line = {0, POLLIN, 0};
	long wrong = 0;

	do
		wrong += wait_by(how) != 0;
	while (poll(&line, 1, 0) == 0);
	read_line();
	return wrong;
}

static long load(const char *path, long times)
{
	void *library = dlopen(path, RTLD_NOW);
	long (*function)(long);
	long sum = 0;

	if (!library)
		return -1;
	*(void **)&function = dlsym(library, "part_work");
	for (long i = 0; function && i < times; i++)
		sum += function(i);
	dlclose(library);
	return sum;
}

/* Children that live on, and work when they are told; when there is nobody any
 * more to tell them, they wait. */
struct Worker {
	pid_t pid;
	int to, from;
};
static std::vector<Worker> workers;

static void serve(int in, int out)
{
	pid_t self = getpid();
	long number;

	if (write(out, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	while (read(in, &number, sizeof(number)) == sizeof(number)) {
		run(number);
		if (write(out, &number, sizeof(number)) != sizeof(number))
			break;
	}
	alarm(60);
	pause(); /* until it is killed */
	_exit(0);
}

/* ORPHAN: its parent ends at once. */
static void add_worker(bool orphan)
{
	int down[2], up[2];
	Worker worker;
	pid_t child;

	if (pipe(down) || pipe(up))
		abort();
	child = fork();
	if (child == 0) {
		if (orphan && fork())
			_exit(0);
		close(down[1]);
		for (const Worker &other : workers)
			close(other.to);
		serve(down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	worker.to = down[1];
	worker.from = up[0];
	if (orphan)
		waitpid(child, NULL, 0);
	if (read(worker.from, &worker.pid, sizeof(pid_t)) != sizeof(pid_t))
		abort();
	workers.push_back(worker);
}

/* How many have done it. */
static long work(long number)
{
	long done = 0, answer;

	for (const Worker &worker : workers)
		if (write(worker.to, &number, sizeof(number)) ==
			    sizeof(number) &&
		    read(worker.from, &answer, sizeof(answer)) ==
			    sizeof(answer))
			done += answer == number;
	return done;
}

int main(int argc, char **argv)
{
	char line[4096], word[64], text[2048];
	long number;

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		text[0] = '\0';
		number = 0;
		if (sscanf(line, "%63s %ld %2047s", word, &number, text) < 1)
			continue;
		std::string what = word;
		if (what == "run") {
			run(number);
			printf("ran %ld\n", number);
		} else if (what == "nest") {
			printf("nested %ld\n", nested(number));
		} else if (what == "throw") {
			printf("wrong %ld\n", throw_often(number));
		} else if (what == "hold") {
			printf("wrong %ld\n", let_go(number));
		} else if (what == "throwing") {
			printf("wrong %ld\n", throwing());
		} else if (what == "threads") {
			in_threads(number);
			printf("ran %ld\n", 4 * number);
		} else if (what == "fork") {
			printf("child %d\n", in_child(number));
		} else if (what == "end") {
			printf("ended %ld\n", ended_children(number));
		} else if (what == "workers") {
			for (long i = 0; i < number; i++)
				add_worker(i % 2);
			printf("workers");
			for (const Worker &worker : workers)
				printf(" %d", (int)worker.pid);
			printf("\n");
		} else if (what == "work") {
			printf("worked %ld\n", work(number));
		} else if (what == "waits") {
			printf("wrong %ld\n", waits(text));
		} else if (what == "load") {
			printf("loaded %ld\n", load(text, number));
		} else if (what == "exec") {
			execl("/proc/self/exe", argv[0], (char *)NULL);
		} else if (what == "leave") {
			break;
		}
	}
	printf("left\n");
	return 3;
}
