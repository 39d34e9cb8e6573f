#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void nap(void)
{
	nanosleep(&(struct timespec){0, 50000000}, 0);
}
int main(int argc, char **argv)
{
	const char *way = argv[argc - 1];

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (int i = 0; i < (atoi(way) ? 20 : 2); i++)
		nap();
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "system-call"))
		syscall(SYS_exit_group, 0);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "exec"))
		execl("/bin/true", "true", (char *)0);
	if (!strcmp(way, "no-exec")) {
		execl("/nowhere", "nowhere", (char *)0);
		nap();
	}
	if (atoi(way))
		kill(getpid(), atoi(way));
	return 0;
}
