/* Runs a command and prints what it took: wall clock and processor time in
 * milliseconds (user and system, children that it has waited for included),
 * and its peak memory in KiB. Its output is thrown away. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	double before = now_ms(), wall;
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = vfork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 1;
	wall = now_ms() - before;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "%s failed\n", argv[1]);
		return 1;
	}
	printf("%.3f %.3f %ld\n", wall, ms(used.ru_utime) + ms(used.ru_stime),
	       used.ru_maxrss);
	return 0;
}
