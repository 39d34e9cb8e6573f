/* build: -O1 -pthread -fno-inline -fno-optimize-sibling-calls
 * -fno-ipa-pure-const -fno-ipa-cp -fno-ipa-icf -fno-toplevel-reorder */
/* Processes and threads that libc knows nothing of: clones MODE [N] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile _Thread_local long sink;
static atomic_int turns;
static char self[4096];

long work(long n)
{
	sink = n;
	sink = 3 * sink;
	return n + 1;
}

long nest(long depth, long (*function)(long))
{
	long sum = depth ? nest(depth - 1, function) : function(depth);

	sink = sum;
	return sum + 1;
}

static int ended(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, __WALL) != pid)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 1000 + WTERMSIG(status);
}

long child_work(long n)
{
	sink = n;
	sink = 3 * sink;
	return n + 2;
}

/* clone(2) itself, as fork() but without its handlers. */
static int by_clone(long n)
{
	int status = 0;

	for (long i = 0; i < n; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL,
					   NULL);

		if (!pid) {
			for (int j = 0; j < 100; j++)
				nest(9, child_work);
			_exit(7);
		}
		nest(9, work);
		status += ended(pid);
	}
	return status;
}

/* --- with the creator's memory --- */

static long repeats;

int cloned(void *argument)
{
	long sum = 0;

	for (long i = 0; i < repeats; i++)
		sum += nest(4, child_work);
	if (argument)
		atomic_fetch_add(&turns, 1);
	return sum > 0 ? 5 : 6;
}

static char *new_stack(void)
{
	const size_t bytes = 1 << 16;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return stack + bytes;
}

/* Shares memory and thread-local storage; the creator waits for it. */
static int in_our_memory(long n)
{
	int status = 0;

	repeats = 20;
	for (long i = 0; i < n; i++) {
		pid_t pid = clone(cloned, new_stack(),
				  CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

		status += ended(pid);
		nest(4, work);
	}
	return status;
}

/* The same, both running. Thread-local storage is shared by two: libc forbids
 * most calls then. */
static int beside_us(long n)
{
	int status = 0;

	repeats = 20000;
	for (long i = 0; i < n; i++) {
		pid_t pid = clone(cloned, new_stack(), CLONE_VM | SIGCHLD,
				  NULL);

		for (int j = 0; j < 20000; j++)
			nest(4, work);
		status += ended(pid);
	}
	return status;
}

/* Functions that go on to others by jumps, in both. */
#define JUMPS __attribute__((optimize("optimize-sibling-calls")))

JUMPS long even(long n);

JUMPS long odd(long n)
{
	sink = n;
	return n ? even(n - 1) : work(n);
}

JUMPS long even(long n)
{
	sink = n;
	return n ? odd(n - 1) : child_work(n);
}

JUMPS long hop(long n)
{
	sink = work(n);
	return odd(n % 7);
}

int jumping(void *unused)
{
	(void)unused;
	for (long i = 0; i < repeats; i++) {
		sink = hop(i) + even(i % 23);
		nest(i % 5, i % 3 ? hop : odd);
	}
	return 5;
}

static int jumps_beside_us(long n)
{
	int status = 0;

	repeats = 40000;
	for (long i = 0; i < n; i++) {
		pid_t pid = clone(jumping, new_stack(), CLONE_VM | SIGCHLD,
				  NULL);

		jumping(NULL);
		status += ended(pid);
	}
	return status;
}

/* One that makes threads, with storage of their own: to it they are threads of
 * its own process, and the creator's are not. */
static void *short_work(void *argument)
{
	nest((long)argument, work);
	return NULL;
}

static int makes_threads(void *count)
{
	for (long i = 0; i < (long)count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, short_work, (void *)9) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	atomic_store(&turns, 1);
	return 8;
}

static int beside_its_threads(long n)
{
	pid_t pid = clone(makes_threads, new_stack(), CLONE_VM | SIGCHLD,
			  (void *)n);

	while (!atomic_load(&turns))
		nest(4, child_work);
	return ended(pid);
}

/* A thread, with thread-local storage of its own. */
static int with_storage(long n)
{
	void *(*allocate)(void *);
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
			  CLONE_CHILD_CLEARTID;
	_Atomic int *there = calloc((size_t)n, sizeof(*there));

	if (!there)
		return 1;
	*(void **)&allocate = dlsym(RTLD_DEFAULT, "_dl_allocate_tls");
	repeats = 5000;
	for (long i = 0; i < n; i++) {
		void **tcb = allocate(NULL);

		tcb[0] = tcb[2] = tcb; /* self */
		memcpy(&tcb[5], &((void **)pthread_self())[5],
		       2 * sizeof(*tcb)); /* canary, pointer guard */
		there[i] = 1;             /* until the kernel has ended it */
		if (clone(cloned, new_stack(), flags, tcb, NULL, tcb,
			  &there[i]) < 0)
			return 1;
		for (int j = 0; j < 5000; j++)
			nest(4, work);
	}
	for (long i = 0; i < n; i++)
		while (atomic_load(&there[i]))
			usleep(100);
	free(there);
	return 0;
}

/* Processes in our memory, for which their creator waits, with zeros for
 * thread-local storage: it does for a child that makes some system calls, and
 * costs less than what libc would make. */
static int in_bare_storage(long n)
{
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD;
	int status = 0;

	repeats = 20;
	for (long i = 0; i < n; i++) {
		char *storage = new_stack() - (1 << 15);
		pid_t pid = clone(cloned, new_stack(), flags, NULL, NULL,
				  storage);

		status += ended(pid);
		nest(4, work);
	}
	return status;
}

/* --- forks while threads are busy --- */

static atomic_bool stop;

static void *busy(void *unused)
{
	while (!atomic_load(&stop))
		nest(20, work);
	return unused;
}

static void *short_one(void *unused)
{
	nest(3, work);
	return unused;
}

/* N forks from each of three threads, threads that come and go beside them. */
static void *fork_often(void *argument)
{
	long bad = 0;

	for (long i = 0; i < (long)argument; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 10; j++)
				nest(9, child_work);
			_exit(9);
		}
		bad += ended(pid) != 9;
	}
	return (void *)bad;
}

static int storm(long n)
{
	pthread_t spinning[2], forking[3], thread;
	long bad = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&spinning[i], NULL, busy, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&forking[i], NULL, fork_often, (void *)n);
	for (long i = 0; i < 10 * n; i++) {
		pthread_create(&thread, NULL, short_one, NULL);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < 3; i++) {
		void *result;

		pthread_join(forking[i], &result);
		bad += (long)result;
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(spinning[i], NULL);
	return (int)bad;
}

/* --- by libc --- */

static int by_popen(long n)
{
	char command[5000], line[100];
	int status = 0;

	snprintf(command, sizeof(command), "exec '%s' leaf 100", self);
	for (long i = 0; i < n; i++) {
		FILE *f = popen(command, "r");

		while (f && fgets(line, sizeof(line), f))
			fputs(line, stdout);
		status += WEXITSTATUS(pclose(f));
		nest(3, work);
	}
	return status;
}

/* daemon(), and not one descriptor left. */
static int as_daemon(void)
{
	int fd;

	fflush(stdout);
	if (daemon(0, 1) != 0)
		return 1;
	nest(9, child_work);
	if (close_range(3, ~0u, 0) != 0)
		return 1;
	fd = dup(1); /* the first that is free */
	for (int i = 0; i < 1000; i++)
		nest(9, child_work);
	printf("daemon: %d\n", fd);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "clone";
	long n = argc > 2 ? atol(argv[2]) : 3;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int result = 2;

	if (length <= 0)
		return 1;
	self[length] = '\0';
	if (!strcmp(mode, "clone"))
		result = by_clone(n);
	else if (!strcmp(mode, "vm-vfork"))
		result = in_our_memory(n);
	else if (!strcmp(mode, "vm"))
		result = beside_us(n);
	else if (!strcmp(mode, "vm-jumps"))
		result = jumps_beside_us(n);
	else if (!strcmp(mode, "vm-threads"))
		result = beside_its_threads(n);
	else if (!strcmp(mode, "tls"))
		result = with_storage(n);
	else if (!strcmp(mode, "bare-tls"))
		result = in_bare_storage(n);
	else if (!strcmp(mode, "storm"))
		result = storm(n);
	else if (!strcmp(mode, "popen"))
		result = by_popen(n);
	else if (!strcmp(mode, "daemon"))
		return as_daemon();
	else if (!strcmp(mode, "leaf"))
		result = nest(n, child_work) > 0 ? 3 : 0;
	printf("%s %d\n", mode, result);
	return 0;
}
