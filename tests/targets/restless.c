/* Calls short functions in some threads, while others are made and end,
 * children are forked, programs are executed, signals arrive and a library
 * comes and goes, until its input ends: restless LIBRARY. Says what of that
 * went wrong. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPINNERS 3

extern char **environ;

static volatile int stop;
static _Atomic long wrong, rounds, forks, threads, loads, signals;

#define SHORT(n) \
	__attribute__((noinline)) static long short_##n(long x) \
	{ \
		__asm__ volatile("nop; nop; nop; nop; nop; nop" ::: "memory"); \
		return x + (n); \
	}

SHORT(1)
SHORT(2)
SHORT(3)
SHORT(4)

__attribute__((noinline)) static long deep(long n)
{
	long below = n ? deep(n - 1) : 0;

	__asm__ volatile("" ::: "memory");
	return below + (n ? short_1(0) : 0);
}

static void *spin(void *nothing)
{
	while (!stop) {
		long sum = 0;

		for (int i = 0; i < 1000; i++)
			sum += short_1(0) + short_2(0) + short_3(0) +
			       short_4(0);
		wrong += sum + deep(50) != 10050;
		rounds++;
	}
	return nothing;
}

static void *add_two(void *number)
{
	return (char *)number + short_2(0);
}

static void *make_threads(void *nothing)
{
	while (!stop) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, add_two, nothing) != 0)
			continue;
		pthread_join(thread, &result);
		wrong += (char *)result - (char *)nothing != 2;
		threads++;
	}
	return nothing;
}

static void expect_status(pid_t child, int wanted)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	wrong += !WIFEXITED(status) || WEXITSTATUS(status) != wanted;
}

static void *fork_children(void *nothing)
{
	char *arguments[] = {(char *)"true", NULL};

	while (!stop) {
		pid_t child = fork();

		if (child == 0)
			_exit((int)(deep(20) + short_3(0)));
		if (child > 0)
			expect_status(child, 23);
		if (forks++ % 8 == 0 &&
		    posix_spawn(&child, "/bin/true", NULL, NULL, arguments,
				environ) == 0)
			expect_status(child, 0);
		usleep(2000);
	}
	return nothing;
}

static void *load(void *path)
{
	while (!stop) {
		void *library = dlopen(path, RTLD_NOW);
		long (*function)(long) = NULL;

		if (library)
			*(void **)&function = dlsym(library, "part_work");
		wrong += !function || function(5) != 7;
		if (library)
			dlclose(library);
		loads++;
		usleep(1000);
	}
	return path;
}

static void on_alarm(int number)
{
	(void)number;
	wrong += deep(5) != 5;
	signals++;
}

int main(int argc, char **argv)
{
	const struct itimerval each = {{0, 2000}, {0, 2000}};
	struct sigaction action = {.sa_flags = SA_RESTART};
	void *(*const others[])(void *) = {make_threads, fork_children, load};
	pthread_t all[SPINNERS + 3];

	if (argc != 2)
		return 2;
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < SPINNERS; i++)
		pthread_create(&all[i], NULL, spin, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&all[SPINNERS + i], NULL, others[i],
			       i == 2 ? argv[1] : NULL);
	while (getchar() != EOF)
		;
	stop = 1;
	for (int i = 0; i < SPINNERS + 3; i++)
		pthread_join(all[i], NULL);
	printf("wrong %ld\n", (long)wrong);
	return wrong || !rounds || !forks || !threads || !loads || !signals;
}
