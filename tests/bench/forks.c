/* Loads a library, forks children that exit at once, and prints the processor
 * time in milliseconds that each took, of the child and of its parent. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double used_ms(void)
{
	const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	double sum = 0;

	for (int i = 0; i < 2; i++) {
		struct rusage r;

		getrusage(whose[i], &r);
		sum += (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
		       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	double before;

	if (count <= 0 || (argc > 2 && !dlopen(argv[2], RTLD_NOW)))
		return 1;
	before = used_ms();
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	printf("%.3f\n", (used_ms() - before) / count);
	return 0;
}
