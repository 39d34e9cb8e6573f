#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int lasts;

__attribute__((noinline)) void work(void)
{
	struct timespec t = {0, 1000000};

	nanosleep(&t, 0);
}

__attribute__((noinline)) pid_t back(int n);

__attribute__((noinline)) pid_t forth(int n)
{
	pid_t child = n ? back(n - 1) : fork();

	if (!n && lasts)
		work();
	__asm__ volatile("" ::: "memory");
	return child;
}

__attribute__((noinline)) pid_t back(int n)
{
	pid_t child = forth(n);

	for (volatile int i = 0; i < 1000; i++)
		;
	return child;
}

int main(int argc, char **argv)
{
	(void)argv;
	lasts = argc > 1;
	if (forth(60))
		wait(0);
	return 0;
}
