/* build: -g -O2 -pthread -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp */
/* To be looked at by a debugger: a thread calls some functions again and again,
 * until `enough` is set, or for some seconds. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int enough, rounds;

void pause_here(void)
{
	rounds++;
}

long twice(long n)
{
	pause_here();
	return 2 * n;
}

long inner(long n)
{
	usleep(1000);
	return twice(n) + 1;
}

long middle(long n)
{
	return inner(n + 1) + 1;
}

long outer(long n)
{
	return middle(n + 1) + 1;
}

/* Is the main thread asleep, in pthread_join? Then its frames stay as they
 * are. */
static int main_waits(void)
{
	char name[64], state = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(name, "r");
	if (file) {
		if (fscanf(file, "%*d %*s %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state == 'S';
}

static void *run(void *argument)
{
	long wrong = 0;

	for (int i = 0; i < 10000 && !main_waits(); i++)
		usleep(1000);
	for (int i = 0; i < 100000 && !enough; i++)
		wrong += outer((long)argument) != 27;
	return (void *)wrong;
}

int main(void)
{
	pthread_t thread;
	void *wrong;

	puts("started");
	fflush(stdout);
	pthread_create(&thread, NULL, run, (void *)10);
	pthread_join(thread, &wrong);
	printf("%ld wrong\n", (long)wrong);
	return enough ? 5 : 1;
}
