// build: -g -pthread
// Calls into libc that are counted by the caller's GOT entries, and those that
// must be left as they are. The first argument says which.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef TIMES
#define TIMES 10
#endif

static int sink;
static FILE *notes;

static void *writer(void *argument)
{
	int times = (int)(long)argument;

	for (int i = 0; i < times; i++)
		if (write(sink, "x", 1) != 1)
			abort();
	fprintf(notes, "%ld %d\n", syscall(SYS_gettid), times);
	return nullptr;
}

/* Thread k writes k * TIMES times; their ids go to the file. */
static void threads(const char *path)
{
	pthread_t ids[4];

	notes = fopen(path, "w");
	for (long k = 1; k <= 4; k++)
		pthread_create(&ids[k - 1], nullptr, writer,
			       (void *)(k * TIMES));
	for (pthread_t id : ids)
		pthread_join(id, nullptr);
	fclose(notes);
}

/* ------------------------------------------------------------ left alone */

static jmp_buf back;
static ucontext_t context;

__attribute__((noinline)) static void jumps()
{
	volatile int rounds = 0;

	if (setjmp(back) < 3) {
		rounds = rounds + 1;
		longjmp(back, rounds);
	}
	printf("setjmp %d\n", rounds);
	rounds = 0;
	getcontext(&context);
	rounds = rounds + 1;
	if (rounds < 3)
		setcontext(&context);
	printf("getcontext %d\n", rounds);
}

static void children()
{
	int status = 0;
	pid_t child = vfork();

	if (child == 0)
		_exit(7);
	waitpid(child, &status, 0);
	printf("vfork %d\n", WEXITSTATUS(status));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (write(sink, "x", 1) != 1)
			_exit(1);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	printf("system %d\n", WEXITSTATUS(system("exit 5")));
}

/* A pointer that is taken is the one that dlsym gives. */
__attribute__((noinline)) static bool is_malloc(void *(*f)(size_t))
{
	return f == malloc;
}

static void pointers()
{
	void *(*volatile taken)(size_t) = malloc;
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	auto parent = (pid_t(*)())dlsym(RTLD_DEFAULT, "getppid");
	void *next = dlsym(RTLD_NEXT, "getppid");
	void *p = taken(10);
	bool same = true;

	printf("malloc %d %d\n", (void *)taken == found, is_malloc(taken));
	free(p);
	printf("next %d\n", next == (void *)parent);
	for (int i = 0; i < TIMES; i++)
		same &= parent() == getppid();
	printf("getppid %d\n", same);
	printf("dlopen %d\n", dlopen("libm.so.6", RTLD_NOW) != nullptr);
}

/* What the kernel says of the page that the GOT is in. */
extern "C" char got[] __asm__("_GLOBAL_OFFSET_TABLE_")
	__attribute__((visibility("hidden")));

static void protection()
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, at = (unsigned long)got;
	char line[512], rights[8];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 &&
		    at >= start && at < end)
			printf("GOT %s\n", rights);
	if (maps)
		fclose(maps);
}

/* ------------------------------------------------------------- unwinding */

static int comparisons;

static int compare(const void *a, const void *b)
{
	if (++comparisons == 5)
		throw std::string("five");
	return *(const int *)a - *(const int *)b;
}

static int compare_and_jump(const void *a, const void *b)
{
	if (++comparisons == 5)
		longjmp(back, 1);
	return *(const int *)a - *(const int *)b;
}

static void throws()
{
	int numbers[] = {5, 2, 8, 1, 9, 3, 7};

	for (int i = 0; i < TIMES; i++) {
		comparisons = 0;
		try {
			qsort(numbers, 7, sizeof(int), compare);
		} catch (const std::string &what) {
			if (what != "five")
				puts("wrong");
		}
	}
	comparisons = 0;
	if (setjmp(back) == 0)
		qsort(numbers, 7, sizeof(int), compare_and_jump);
	printf("thrown, jumped at %d\n", comparisons);
}

struct told {
	~told()
	{
		puts("destroyed");
	}
};

static int ends[2];

static void *reader(void *)
{
	told object;
	char c;

	if (read(ends[0], &c, 1) == 1)
		puts("read");
	puts("not cancelled");
	return nullptr;
}

static void cancelled()
{
	pthread_t thread;
	void *result;

	if (pipe(ends) != 0)
		abort();
	pthread_create(&thread, nullptr, reader, nullptr);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static void on_alarm(int)
{
	if (write(sink, "x", 1) != 1)
		abort();
}

static void interrupted()
{
	sigset_t none, alarms;

	sigemptyset(&none);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	signal(SIGALRM, on_alarm);
	// however late the thread comes to wait
	sigprocmask(SIG_BLOCK, &alarms, nullptr);
	for (int i = 0; i < TIMES; i++) {
		ualarm(1000, 0);
		sigsuspend(&none);
	}
	sigprocmask(SIG_UNBLOCK, &alarms, nullptr);
	puts("interrupted");
}

/* -------------------------------------------------------- later libraries */

static void late(const char *path, int flags, int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(path, flags);

		if (!library) {
			puts(dlerror());
			exit(1);
		}
		auto entry = (int (*)(int, int))dlsym(library, "imports_entry");
		auto parent = (int (*)())dlsym(library, "imports_parent");
		auto group = (int (*)())dlsym(library, "imports_group");
		sum += entry(sink, TIMES) + parent() + (group() > 0);
		dlclose(library);
	}
	printf("late %d\n", sum);
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "";

	sink = open("/dev/null", O_WRONLY);
	if (what == "threads" && argc > 2) {
		threads(argv[2]);
	} else if (what == "late" && argc > 4) {
		late(argv[2], strcmp(argv[3], "now") ? RTLD_LAZY : RTLD_NOW,
		     atoi(argv[4]));
	} else {
		jumps();
		children();
		pointers();
		throws();
		cancelled();
		interrupted();
		protection();
	}
	return 3;
}
