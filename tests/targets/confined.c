/* build: -O1 -pthread -fno-inline -fno-optimize-sibling-calls
 * -fno-ipa-pure-const -fno-ipa-cp -fno-ipa-icf */
/* Programs that give up rights, or have few: confined MODE [ARG] */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

static volatile long sink;

long work(long n)
{
	sink = n;
	sink = 3 * sink;
	return n + 1;
}

long nest(long depth)
{
	long below = depth ? nest(depth - 1) : work(depth);

	sink = below;
	return below + 1;
}

/* 2^8 contexts that no one has seen before. */
#define LEVEL(n, next) \
	long level_##n(long x) \
	{ \
		long y = level_##next(x + n); \
\
		sink = y; \
		return y + level_##next(x - n); \
	}

long level_8(long x)
{
	sink = x;
	sink = 3 * sink;
	return x + 1;
}

LEVEL(7, 8)
LEVEL(6, 7)
LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)
LEVEL(0, 1)

/* 2^14 contexts of 27 different calls. */
long level_33(long x)
{
	sink = x;
	sink = 3 * sink;
	return x + 1;
}

LEVEL(32, 33)
LEVEL(31, 32)
LEVEL(30, 31)
LEVEL(29, 30)
LEVEL(28, 29)
LEVEL(27, 28)
LEVEL(26, 27)
LEVEL(25, 26)
LEVEL(24, 25)
LEVEL(23, 24)
LEVEL(22, 23)
LEVEL(21, 22)
LEVEL(20, 21)

static void *in_thread(void *argument)
{
	return (void *)(nest(5) + level_0((long)argument));
}

/* What a program does when it has given up its rights: new calls, threads,
 * a child. */
static void go_on(void)
{
	pthread_t thread;
	void *result = NULL;
	int status = 0;
	pid_t pid;

	printf("%ld\n", level_0(1) + nest(10));
	if (pthread_create(&thread, NULL, in_thread, (void *)2L) == 0)
		pthread_join(thread, &result);
	printf("%ld\n", (long)result);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		nest(20);
		_exit(4);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	printf("%d\n", pid > 0 ? WEXITSTATUS(status) : -1);
}

static int check(int result)
{
	if (result != 0)
		printf("refused: %s\n", strerror(errno));
	return result;
}

static void become_nobody(void)
{
	check(setgroups(0, NULL));
	check(setgid(65534));
	check(setuid(65534));
}

static int has_room(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	munmap(memory, bytes);
	return 1;
}

static void limit(int what, rlim_t to)
{
	struct rlimit l = {to, to};

	check(setrlimit(what, &l));
}

/* Has 200 MiB of address space, or of data, of which it takes 100, and fails to
 * take `much` (in MiB); says what it reads of that, and so does a child. */
static int with_room(int what, size_t much)
{
	static const rlim_t odd[] = {RLIM_INFINITY - 5000,
				     ((rlim_t)1 << 40) + 123};
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
	volatile uintptr_t wrong = 8;
	int status = 0;
	pid_t child;

	for (int i = 0; i < 2; i++) {
		l.rlim_cur = odd[i];
		check(setrlimit(what, &l));
		check(getrlimit(what, &l));
		printf("%llx, room: %d\n", (unsigned long long)l.rlim_cur,
		       has_room(1 << 30));
	}
	l.rlim_cur = l.rlim_max;
	limit(what, 200 << 20);
	printf("room %d %d\n", has_room(100 << 20), has_room(much << 20));
	check(setrlimit(what, &l)); /* a hard limit may not be raised */
	check(getrlimit(what, &l));
	printf("limits %lu %lu\n", (unsigned long)l.rlim_cur,
	       (unsigned long)l.rlim_max);
	check(setrlimit(what, (struct rlimit *)wrong)); /* no pointer */
	l.rlim_cur = l.rlim_max + 1024;
	check(setrlimit(what, &l)); /* more than the hard one */
	l.rlim_cur = 100 << 20;
	check(setrlimit(what, &l));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		check(getrlimit(what, &l));
		printf("child %lu %lu, room %d\n", (unsigned long)l.rlim_cur,
		       (unsigned long)l.rlim_max, has_room(50 << 20));
		go_on();
		fflush(stdout);
		_exit(5);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* A filter that answers `action` to all system calls that are not named. */
static void filter(const int *allowed, unsigned count, unsigned action,
		   int by_system_call)
{
	struct sock_filter code[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.filter = code};
	unsigned n = 1;

	for (unsigned i = 0; i < count; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							 SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = (unsigned short)n;
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (by_system_call)
		check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				   &program));
	else
		check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static const int writing[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn,
			      SYS_exit};

/* As browsers' sandboxes are: memory and threads are to be had, files are not,
 * and of the advice about memory only that which gives it back. */
static void filter_all_but_memory(void)
{
	static const int allowed[] = {
		SYS_mmap,          SYS_munmap,          SYS_mprotect,
		SYS_clock_gettime, SYS_rt_sigprocmask,  SYS_getpid,
		SYS_gettid,        SYS_tgkill,          SYS_clone,
		SYS_clone3,        SYS_set_robust_list, SYS_futex,
#ifdef SYS_rseq
		SYS_rseq,
#endif
	};
	struct sock_filter advice[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {6, advice};
	int both[24], n = 0;

	for (unsigned i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		both[n++] = allowed[i];
	for (unsigned i = 0; i < sizeof(writing) / sizeof(*writing); i++)
		both[n++] = writing[i];
	both[n++] = SYS_madvise;
	both[n++] = SYS_seccomp;
	filter(both, (unsigned)n, SECCOMP_RET_KILL_PROCESS, 0);
	check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static void *contexts_in_thread(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)(nest(7) + level_0(1));
}

/* Some at a time, and then others in their places. */
static long threads_of_contexts(void)
{
	enum { ROUNDS = 3, EACH = 60 };
	pthread_t threads[EACH];
	long sum = 0;
	void *result;

	for (int round = 0; round < ROUNDS; round++) {
		for (int t = 0; t < EACH; t++)
			if (pthread_create(&threads[t], NULL,
					   contexts_in_thread, NULL) != 0)
				_exit(3);
		for (int t = 0; t < EACH; t++) {
			pthread_join(threads[t], &result);
			sum += (intptr_t)result;
		}
	}
	return sum;
}

/* What libseccomp asks the kernel before anything else: nothing of it is
 * granted, so nothing changes. */
static void probe(void)
{
	check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	check((int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
			   NULL));
	check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
	check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &sink));
	check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			   SECCOMP_FILTER_FLAG_TSYNC, NULL));
}

static long calls_alone(void)
{
	long sum = 0;

	for (long i = 0; i < 1000; i++)
		sum += nest(i % 50);
	return sum + level_0(1);
}

/* As of a caller who leaves something in the upper halves of registers that
 * hold 32 bits. */
extern int wide_prctl(unsigned long option, ...) __asm__("prctl");

static void confine_strictly(unsigned long above)
{
	if (above > 1)
		check((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0,
				   NULL));
	else
		check(wide_prctl(PR_SET_SECCOMP | above << 32,
				 SECCOMP_MODE_STRICT));
}

/* No system call of the program's own but write and exit. */
static void without_system_calls(void)
{
	char line[64];
	long sum = calls_alone();
	int length = snprintf(line, sizeof(line), "%ld\n", sum);

	if (write(1, line, (size_t)length) != length)
		sum = 0;
}

/* What the kernel asks at each system call: whether it goes to our handler. */
static volatile char goes_to_handler;
static volatile int number_of_first = -1;

static void take_system_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (goes_to_handler)
		number_of_first = info->si_syscall;
	goes_to_handler = 0;
}

/* While there are calls alone, a system call would be a SIGSYS. */
static void dispatched(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	long sum;

	action.sa_sigaction = take_system_call;
	check(sigaction(SIGSYS, &action, NULL));
	check(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0L, 0L,
		    0L));
	/* with as many arguments as are kept in registers */
	if (check((int)syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH,
			       PR_SYS_DISPATCH_ON, 0L, 0L, &goes_to_handler)) !=
	    0)
		return;
	goes_to_handler = 1;
	sum = calls_alone();
	goes_to_handler = 0;
	printf("%ld, system call %d\n", sum, number_of_first);
}

static int in_namespace(void)
{
	int status = 0;
	pid_t pid;

	if (check(unshare(CLONE_NEWUSER | CLONE_NEWPID)) != 0)
		return 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		printf("pid %d\n", (int)getpid());
		go_on();
		fflush(stdout);
		_exit(6);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	static const struct rlimit little = {1 << 20, 1 << 20};
	const char *mode = argc > 1 ? argv[1] : "";
	size_t much = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int result = 0;

	nest(3);
	if (!strcmp(mode, "chroot")) {
		check(chdir(argv[2]));
		check(chroot("."));
		go_on();
	} else if (!strcmp(mode, "setuid")) {
		become_nobody();
		go_on();
	} else if (!strcmp(mode, "chroot-setuid")) {
		check(chdir(argv[2]));
		check(chroot("."));
		become_nobody();
		go_on();
	} else if (!strcmp(mode, "fsize")) {
		limit(RLIMIT_FSIZE, 1 << 16);
		go_on();
	} else if (!strcmp(mode, "as")) {
		/* less than there is already, and not by setrlimit, which
		 * would leave out what is not the program's */
		check(prlimit(0, RLIMIT_AS, &little, NULL));
		printf("%ld\n", level_0(1) + nest(30));
	} else if (!strcmp(mode, "as-room")) {
		result = with_room(RLIMIT_AS, much);
	} else if (!strcmp(mode, "data-room")) {
		result = with_room(RLIMIT_DATA, much);
	} else if (!strcmp(mode, "nproc")) {
		become_nobody();
		limit(RLIMIT_NPROC, 0);
		go_on();
	} else if (!strcmp(mode, "nofile")) {
		limit(RLIMIT_NOFILE, 0);
		go_on();
	} else if (!strcmp(mode, "nofile-served")) {
		check(dup2(1, 2) < 0); /* what reads our output gets errors */
		limit(RLIMIT_NOFILE, 0);
		go_on();
	} else if (!strcmp(mode, "undumpable")) {
		check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
		go_on();
	} else if (!strcmp(mode, "namespace")) {
		result = in_namespace();
	} else if (!strcmp(mode, "probe")) {
		probe();
		go_on();
	} else if (!strcmp(mode, "filter-errno")) {
		fflush(stdout);
		filter(writing, 4, SECCOMP_RET_ERRNO | EPERM, 0);
		without_system_calls();
		_exit(7);
	} else if (!strcmp(mode, "filter-kill")) {
		filter(writing, 4, SECCOMP_RET_KILL_PROCESS, much != 0);
		without_system_calls();
		_exit(7);
	} else if (!strcmp(mode, "filter-many")) {
		filter(writing, 4, SECCOMP_RET_KILL_PROCESS, 0);
		sink = level_20(1);
		_exit(9);
	} else if (!strcmp(mode, "filter-memory")) {
		long sum;

		printf("%ld\n",
		       threads_of_contexts()); /* libc has all it needs */
		fflush(stdout);
		filter_all_but_memory();
		sum = threads_of_contexts();
		sink = level_20(1);
		sum += threads_of_contexts();
		return write(1, &sum, sizeof(sum)) == sizeof(sum) ? 9 : 1;
	} else if (!strcmp(mode, "dispatch")) {
		dispatched();
	} else if (!strcmp(mode, "tsc")) {
		check(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
		go_on();
	} else if (!strcmp(mode, "strict")) {
		confine_strictly(much);
		without_system_calls();
		syscall(SYS_exit, 8);
	} else {
		go_on();
	}
	return result;
}
