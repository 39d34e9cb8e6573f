// build: -O2 -pthread -fno-ipa-icf -fno-ipa-cp -fno-inline-functions
// C++ exceptions through hooked frames:
// exceptions deep|turns|next|rethrow|terminate|uncaught
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#define KEEP __attribute__((noinline, noclone))

static volatile int zero;
static thread_local long destroyed;

struct guard {
	KEEP ~guard();
};

guard::~guard()
{
	destroyed++;
}

// 100 functions, one above the other; every second has something to destroy.
template <int N> KEEP int level(int x)
{
	if (N % 2) {
		guard g;
		return level<N - 1>(x + 1) + 1;
	}
	return level<N - 1>(x + 1) + 1;
}

template <> KEEP int level<0>(int x)
{
	if (x >= zero)
		throw std::runtime_error("from below");
	return x;
}

KEEP int catch_deep()
{
	try {
		return level<100>(1);
	} catch (const std::exception &e) {
		return e.what()[0] == 'f';
	}
}

static void *deep_thread(void *)
{
	long caught = 0;

	for (int i = 0; i < 500; i++)
		caught += catch_deep();
	return reinterpret_cast<void *>(caught * 1000000 + destroyed);
}

static int deep()
{
	pthread_t threads[4];

	for (auto &t : threads)
		pthread_create(&t, nullptr, deep_thread, nullptr);
	for (auto &t : threads) {
		void *result;

		pthread_join(t, &result);
		printf("%ld\n", reinterpret_cast<long>(result));
	}
	return 0;
}

// In one thread, in others that follow one another, in a forked child.
static void *turn(void *)
{
	for (int i = 0; i < 50; i++)
		catch_deep();
	return nullptr;
}

static int turns()
{
	int status = 0;
	pid_t pid;

	turn(nullptr);
	for (int i = 0; i < 3; i++) {
		pthread_t t;

		pthread_create(&t, nullptr, turn, nullptr);
		pthread_join(t, nullptr);
	}
	pid = fork();
	if (!pid)
		turn(nullptr);
	else
		waitpid(pid, &status, 0);
	return pid ? WEXITSTATUS(status) : 4;
}

// The handler in the very next frame.
KEEP void thrower(int i)
{
	if (i >= zero)
		throw i;
}

KEEP int catch_next(int i)
{
	try {
		thrower(i);
	} catch (int got) {
		return got == i;
	}
	return 0;
}

KEEP int catch_next_destroying(int i)
{
	try {
		guard g;
		thrower(i);
	} catch (int got) {
		return got == i;
	}
	return 0;
}

// The first two end in a jump.
KEEP void jump_to_thrower(int i)
{
	thrower(i);
}

KEEP void jump_on(int i)
{
	jump_to_thrower(i + 1);
}

KEEP int catch_jumped(int i)
{
	try {
		jump_on(i);
	} catch (int got) {
		return got == i + 1;
	}
	return 0;
}

KEEP int middle(int i)
{
	thrower(i);
	return zero + 1;
}

KEEP int catch_middle(int i)
{
	try {
		return middle(i);
	} catch (...) {
		return 1;
	}
}

static int next()
{
	long caught = 0;

	for (int i = 0; i < 100000; i++)
		caught += catch_next(i);
	for (int i = 0; i < 10000; i++)
		caught += catch_next_destroying(i) + catch_middle(i) +
			  catch_jumped(i);
	printf("%ld %ld\n", caught, destroyed);
	return 0;
}

KEEP int rethrower(int i)
{
	try {
		thrower(i);
	} catch (int &got) {
		got++;
		throw;
	}
	return 0;
}

KEEP int rethrower_of_another(int i)
{
	guard g;

	try {
		return rethrower(i);
	} catch (int got) {
		throw std::string("was ") + std::to_string(got);
	}
}

KEEP long catch_rethrown(int i)
{
	try {
		return rethrower_of_another(i);
	} catch (const std::string &s) {
		return atol(s.c_str() + 4);
	}
}

// An exception kept, and thrown again when its frames are gone.
KEEP long catch_kept(int i)
{
	std::exception_ptr kept;

	try {
		thrower(i);
	} catch (...) {
		kept = std::current_exception();
	}
	try {
		std::rethrow_exception(kept);
	} catch (int got) {
		return got;
	}
	return 0;
}

// A throw and its catch inside a destructor that unwinding runs.
struct busy {
	KEEP ~busy();
};

busy::~busy()
{
	try {
		thrower(1);
	} catch (int got) {
		destroyed += got;
	}
}

KEEP void with_busy(int i)
{
	busy b;

	thrower(i);
}

KEEP long catch_busy(int i)
{
	try {
		with_busy(i);
	} catch (int got) {
		return got;
	}
	return 0;
}

static int rethrow()
{
	long sum = 0;

	for (int i = 0; i < 10000; i++)
		sum += catch_rethrown(i) + catch_kept(i) + catch_busy(i);
	printf("%ld %ld\n", sum, destroyed);
	return 0;
}

KEEP void promises(int i) noexcept
{
	middle(i);
}

static void on_terminate()
{
	printf("terminating\n");
	fflush(stdout);
	abort();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "deep";

	if (!strcmp(mode, "deep"))
		return deep();
	if (!strcmp(mode, "turns"))
		return turns();
	if (!strcmp(mode, "next"))
		return next();
	if (!strcmp(mode, "rethrow"))
		return rethrow();
	if (!strcmp(mode, "terminate")) {
		std::set_terminate(on_terminate);
		promises(1);
	}
	if (!strcmp(mode, "uncaught"))
		return level<100>(1);
	return 2;
}
