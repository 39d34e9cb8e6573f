/* build: -O2 -fno-inline -fno-optimize-sibling-calls -pthread */
/* A thread waits in a call for ever, while another one works. napping FILE:
 * until FILE is there. */
#include <pthread.h>
#include <unistd.h>

static volatile long sink;

void nap(void)
{
	pause();
}

void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}

static void *sleeper(void *unused)
{
	nap();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2 || pthread_create(&thread, NULL, sleeper, NULL) != 0)
		return 1;
	while (access(argv[1], F_OK) != 0)
		work();
	return 0;
}
