/* build: -O2 -pthread -fno-inline -fno-ipa-cp -fno-ipa-pure-const */
/* Processes that come from processes: processes MODE [N] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile long sink;
static char self[4096];

long work(long n)
{
	sink = n;
	return n + 1;
}

/* So that the child's counts are other functions' than the parent's. */
long child_work(long n)
{
	sink = n;
	return n + 2;
}

static long many(long (*function)(long), int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += function(i);
	return sum;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 1000 + WTERMSIG(status);
}

/* In frames of its own: the child returns through its parent's. */
pid_t fork_below(int depth)
{
	pid_t pid;

	if (depth) {
		pid = fork_below(depth - 1);
		sink = depth;
		return pid;
	}
	pid = fork();
	if (!pid)
		many(child_work, 500);
	return pid;
}

static int with_fork(void)
{
	pid_t pid;

	many(work, 100);
	fflush(stdout);
	pid = fork_below(10);
	if (!pid) {
		many(work, 7);
		printf("child\n");
		exit(5);
	}
	many(work, 200);
	printf("parent: %d\n", wait_for(pid));
	return 0;
}

/* The child dies where it was born, N frames deep. */
int die_below(int depth)
{
	int result;
	pid_t pid;

	if (depth) {
		result = die_below(depth - 1);
		sink = depth;
		return result;
	}
	pid = fork();
	if (!pid) {
		many(child_work, 100000);
		_exit(8);
	}
	return wait_for(pid);
}

static void *fork_in_thread(void *argument)
{
	pid_t pid = fork_below(3);

	(void)argument;
	if (!pid) {
		many(work, 11);
		_exit(4);
	}
	many(work, 50);
	return (void *)(long)wait_for(pid);
}

static int with_threads(void)
{
	pthread_t threads[4];
	long sum = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, fork_in_thread, NULL);
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}

static void *work_in_thread(void *argument)
{
	many(work, 5);
	return argument;
}

/* The child's thread is the first to call anything there; the child has forked,
 * too, before it does. Each returns by its parent's frames. */
int again_below(int depth)
{
	int result;
	pthread_t thread;
	pid_t pid;

	if (depth) {
		result = again_below(depth - 1);
		sink = depth;
		return result;
	}
	pid = fork();
	if (!pid) {
		if (pthread_create(&thread, NULL, work_in_thread, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			_exit(98);
		pid = fork();
	}
	if (!pid) {
		many(child_work, 500);
		return 3;
	}
	return wait_for(pid) + 1;
}

static int with_again(void)
{
	many(work, 100);
	exit(again_below(10));
}

/* The child has its parent's memory until it executes. */
pid_t vfork_exec(char *const *argv)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(argv[0], argv);
		_exit(99);
	}
	return pid;
}

static int with_vfork(const char *mode)
{
	char *argv[] = {self, "leaf", "300", NULL};
	char *none[] = {"/nowhere/at-all", NULL};
	pid_t pid;

	many(work, 100);
	fflush(stdout);
	if (!strcmp(mode, "spawn")) {
		if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0)
			return 1;
		printf("%d\n", wait_for(pid));
		printf("%d\n", posix_spawn(&pid, none[0], NULL, NULL, none,
					   environ) == ENOENT);
	} else {
		printf("%d\n", wait_for(vfork_exec(argv)));
		printf("%d\n", wait_for(vfork_exec(none)));
	}
	many(work, 50);
	return 0;
}

static int with_system(void)
{
	char command[5000];

	many(work, 10);
	snprintf(command, sizeof(command), "exec '%s' leaf 300", self);
	printf("%d\n", WEXITSTATUS(system(command)));
	many(work, 10);
	return 0;
}

/* Executes itself N times, each in the same process. */
static int chain(int n)
{
	char number[16];

	many(work, n);
	printf("%d\n", n);
	fflush(stdout);
	if (!n)
		return 6;
	snprintf(number, sizeof(number), "%d", n - 1);
	execl(self, self, "chain", number, (char *)NULL);
	return 1;
}

static int failing(void)
{
	many(work, 100);
	for (int i = 0; i < 10; i++)
		execl("/nowhere/at-all", "x", (char *)NULL);
	printf("%s\n", strerror(errno));
	many(work, 23);
	return 3;
}

/* A daemon: two forks, a session of its own, no descriptor left. */
static int as_daemon(const char *done)
{
	pid_t pid;
	int fd;

	many(work, 10);
	pid = fork();
	if (pid) {
		printf("%d\n", wait_for(pid));
		while (access(done, F_OK) != 0)
			usleep(1000);
		return 0;
	}
	setsid();
	many(work, 5);
	if (fork())
		_exit(0);
	for (fd = 0; fd < 1024; fd++)
		close(fd);
	if (chdir("/") != 0)
		_exit(1);
	many(child_work, 12345);
	/* the first descriptor is free, as it is without a profiler */
	fd = open(done, O_CREAT | O_WRONLY, 0600);
	exit(fd);
}

/* 40 functions that call each other, or one another down to where a process
 * forks. */
#define CROWD 40
#define DOWN 1000
#define FOUR(x, n) x(n##0) x(n##1) x(n##2) x(n##3)
#define EACH(x) \
	FOUR(x, 10) \
	FOUR(x, 11) \
	FOUR(x, 12) \
	FOUR(x, 13) \
	FOUR(x, 14) FOUR(x, 15) FOUR(x, 16) FOUR(x, 17) FOUR(x, 18) FOUR(x, 19)

typedef long member(long i);
static member *crowd[CROWD];

/* The child's file may not be longer than that, and what is open there may have
 * no room. */
static long fork_cramped(void)
{
	struct rlimit limit, before;
	long sum = 0;
	pid_t pid;

	getrlimit(RLIMIT_FSIZE, &before);
	for (rlim_t size = 64 << 10; size <= 256 << 10; size += 4 << 10) {
		limit = before;
		limit.rlim_cur = size;
		setrlimit(RLIMIT_FSIZE, &limit);
		pid = fork();
		if (!pid)
			return -1;
		sum += wait_for(pid);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	return sum;
}

static inline __attribute__((always_inline)) long go_on(long i, int next)
{
	if (i == DOWN)
		return fork_cramped();
	if (i > DOWN)
		return crowd[next % CROWD](i - 1);
	return i < 0 ? i : crowd[i](-1);
}

#define MEMBER(n) \
	long crowd_##n(long i) \
	{ \
		long result = go_on(i, (n / 10 - 10) * 4 + n % 10 + 1); \
\
		sink = n; \
		return result; \
	}
EACH(MEMBER)
#define NAME(n) crowd_##n,
static member *crowd[CROWD] = {EACH(NAME)};

static int cramped(void)
{
	long result;

	result = crowd[0](DOWN + CROWD - 1);
	if (result < 0)
		exit(9);
	printf("%ld\n", result);
	return 0;
}

/* More edges than fit in a small file; the child has room. */
static int crowded(void)
{
	pid_t pid;

	for (int i = 0; i < CROWD; i++)
		for (int j = 0; j < CROWD; j++)
			crowd[i](j);
	pid = fork();
	if (!pid) {
		many(child_work, 500);
		_exit(8);
	}
	printf("%d\n", wait_for(pid));
	return 0;
}

/* A child that has its parent's number, in a namespace of its own, as the
 * parent is the first process of its namespace. The child makes N calls. */
static int twin(int n)
{
	pid_t pid;

	many(work, 300);
	if (unshare(CLONE_NEWPID) != 0)
		return 3;
	fflush(stdout);
	pid = fork();
	if (!pid)
		exit(n && !many(child_work, n) ? 1 : (int)getpid() + 8);
	printf("%d\n", wait_for(pid));
	many(work, 300);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "fork";
	int n = argc > 2 ? atoi(argv[2]) : 10;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return 1;
	self[length] =
		'\0'; /* valgrind 3.24 leaves more of its own name there */
	if (!strcmp(mode, "fork"))
		return with_fork();
	if (!strcmp(mode, "deep"))
		return die_below(n);
	if (!strcmp(mode, "threads"))
		return with_threads();
	if (!strcmp(mode, "again"))
		return with_again();
	if (!strcmp(mode, "vfork") || !strcmp(mode, "spawn"))
		return with_vfork(mode);
	if (!strcmp(mode, "system"))
		return with_system();
	if (!strcmp(mode, "chain"))
		return chain(n);
	if (!strcmp(mode, "failing"))
		return failing();
	if (!strcmp(mode, "daemon"))
		return as_daemon(argv[2]);
	if (!strcmp(mode, "cramped"))
		return cramped();
	if (!strcmp(mode, "crowded"))
		return crowded();
	if (!strcmp(mode, "twin"))
		return twin(n);
	if (!strcmp(mode, "leaf"))
		return many(child_work, n) > 0 ? 42 : 0;
	return 2;
}
