// build: -O2 -fno-inline-functions
// A child that throws through frames which were entered before the fork.
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

extern "C" __attribute__((noinline)) void throw_below(int depth)
{
	if (depth) {
		throw_below(depth - 1);
		sink = depth;
		return;
	}
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		throw 1;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		std::exit(1);
	std::printf("%d\n", WEXITSTATUS(status));
}

int main()
{
	try {
		throw_below(5);
	} catch (int) {
		_exit(7);
	}
	return 3;
}
