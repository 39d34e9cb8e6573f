// build: -O1 -pthread -fno-inline -fno-optimize-sibling-calls
// Threads that exist before main or outlive it: lifetimes MODE [N]
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static thread_local volatile long sink;
static std::atomic<long> destroyed, early, late;

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

// --- objects of a thread: made on first use, destroyed when it ends

struct local {
	long id = 0;

	~local()
	{
		nest(id % 3);
		destroyed++;
	}
};

static thread_local local object;
static pthread_key_t key;

// Runs after the destructors of thread_local objects.
void by_key(void *value)
{
	work(1);
	if (reinterpret_cast<long>(value) > 1)
		pthread_setspecific(key,
				    reinterpret_cast<void *>(
					    reinterpret_cast<long>(value) - 1));
	destroyed++;
}

void use_local(long id)
{
	object.id = id;
	pthread_setspecific(key, reinterpret_cast<void *>(3L));
}

static void locals(long n)
{
	pthread_key_create(&key, by_key);
	for (long i = 0; i < n; i++)
		std::thread(use_local, i).join();
	printf("%ld\n", destroyed.load());
}

// --- a constructor starts threads, and waits for one of them

static bool early_wanted;

void before_main()
{
	for (int i = 0; i < 100; i++)
		nest(5);
	early++;
}

static pthread_t spinner;
static std::atomic<bool> stop;

static void *spin(void *argument)
{
	while (!stop)
		nest(3);
	before_main();
	return argument;
}

__attribute__((constructor)) static void start_early(int, char **argv, char **)
{
	early_wanted = argv[1] && !strcmp(argv[1], "early");
	if (!early_wanted)
		return;
	std::thread(before_main).join();
	pthread_create(&spinner, nullptr, spin, nullptr);
}

static void in_main()
{
	before_main();
	stop = true;
	pthread_join(spinner, nullptr);
	printf("%ld\n", early.load());
}

// --- main goes, others stay

static void *after_main(void *argument)
{
	usleep(20000);
	for (int i = 0; i < 1000; i++)
		nest(5);
	printf("after main\n");
	fflush(stdout);
	return argument;
}

static std::atomic<long> under_way;

static void *for_ever(void *)
{
	nest(10);
	under_way++;
	for (;;)
		nest(10);
}

// Destructors of static objects run while the detached threads do.
struct last {
	~last()
	{
		for (int i = 0; i < 1000; i++)
			nest(7);
		late++;
	}
};

static last global;

static void detached(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, for_ever, nullptr);
		pthread_detach(thread);
	}
	while (under_way < n)
		usleep(100);
	printf("exit\n");
	exit(3);
}

// --- from one processor to the other and back

static void migrate(long n)
{
	cpu_set_t all, one;
	long changes = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (long i = 0; i < n; i++) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			changes += sched_setaffinity(0, sizeof(one), &one) == 0;
			nest(9);
		}
	}
	fprintf(stderr, "%ld\n", changes);
}

static void on_signal(int number)
{
	nest(number % 2);
	exit(5);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "locals";
	long n = argc > 2 ? atol(argv[2]) : 100;
	pthread_t thread;

	if (!strcmp(mode, "locals")) {
		locals(n);
	} else if (!strcmp(mode, "early")) {
		in_main();
	} else if (!strcmp(mode, "outlive")) {
		pthread_create(&thread, nullptr, after_main, nullptr);
		pthread_exit(nullptr);
	} else if (!strcmp(mode, "detached")) {
		detached(n);
	} else if (!strcmp(mode, "migrate")) {
		migrate(n);
	} else if (!strcmp(mode, "handler")) {
		signal(SIGUSR1, on_signal);
		nest(3);
		raise(SIGUSR1);
	}
	return 0;
}
