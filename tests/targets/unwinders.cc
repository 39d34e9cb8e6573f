// build: -O2 -pthread -fno-ipa-icf -fno-ipa-cp -fno-inline-functions
// -fnon-call-exceptions What an unwinder is asked for besides throw and catch:
// unwinders caught|foreign|forced|next [ROUNDS]
// unwinders bounded ROUNDS KB: by no more than that memory may grow
// unwinders pointer|statics|walk|handler|aside|thread|global|promise
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "memory.h"

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

// --- as often as you like, in bounded memory

KEEP void thrower(int i)
{
	if (i >= zero)
		throw i;
}

KEEP void between(int i)
{
	guard g;

	thrower(i);
}

KEEP void rethrower(int i)
{
	try {
		between(i);
	} catch (int &got) {
		got++;
		throw;
	}
}

KEEP int catcher(int i)
{
	try {
		rethrower(i);
	} catch (int got) {
		return got == i + 1;
	}
	return 0;
}

static int caught(int rounds)
{
	long sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += catcher(i);
	printf("%ld %ld\n", sum, destroyed);
	return 0;
}

static int bounded(int rounds, long most_kb)
{
	long before;

	caught(rounds / 2);
	before = resident_kb();
	caught(rounds - rounds / 2);
	puts(resident_kb() - before < most_kb ? "flat" : "grows");
	return 0;
}

// --- an exception that another thread catches

static std::exception_ptr passed;

KEEP void *fail_in_thread(void *)
{
	try {
		between(7);
	} catch (...) {
		passed = std::current_exception();
	}
	return nullptr;
}

KEEP void rethrow_passed()
{
	guard g;

	std::rethrow_exception(passed);
}

KEEP int catch_passed()
{
	try {
		rethrow_passed();
	} catch (int got) {
		return got;
	}
	return 0;
}

static int pointer()
{
	long sum = 0;

	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, fail_in_thread, nullptr);
		pthread_join(thread, nullptr);
		sum += catch_passed();
	}
	passed = nullptr;
	printf("%ld %ld\n", sum, destroyed);
	return 0;
}

// --- exceptions that no C++ runtime has made

static int deleted;

static void delete_foreign(_Unwind_Reason_Code, _Unwind_Exception *e)
{
	deleted++;
	free(e);
}

KEEP void raise_foreign()
{
	auto *e = static_cast<_Unwind_Exception *>(
		aligned_alloc(16, (sizeof(_Unwind_Exception) + 15) & ~15ul));

	memset(e, 0, sizeof(*e));
	e->exception_class = 0x53575a0054455354ull;
	e->exception_cleanup = delete_foreign;
	_Unwind_RaiseException(e);
	printf("nobody wants it\n");
	abort();
}

KEEP int foreign_nest(int depth)
{
	guard g;

	if (depth > zero)
		return foreign_nest(depth - 1) + 1;
	raise_foreign();
	return zero + 1;
}

KEEP int catch_foreign()
{
	try {
		return foreign_nest(10);
	} catch (const std::exception &) {
		return 100;
	} catch (...) {
		return 1;
	}
}

KEEP int rethrow_foreign()
{
	try {
		return foreign_nest(0);
	} catch (...) {
		throw;
	}
}

KEEP int catch_foreign_again()
{
	try {
		return rethrow_foreign();
	} catch (...) {
		return 1;
	}
}

static int foreign(int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += catch_foreign() + catch_foreign_again();
	printf("%d %ld %d\n", sum, destroyed, deleted);
	return 0;
}

// --- frames next to the handler, some of which return

KEEP int may_raise(int i)
{
	if (i % 2 == zero)
		raise_foreign();
	return i;
}

KEEP int catch_may_raise(int i)
{
	try {
		return may_raise(i) - i;
	} catch (...) {
		return 1;
	}
}

// Each level catches, and the inner ones pass it on.
KEEP int levels(int depth, int last)
{
	try {
		if (depth == zero)
			raise_foreign();
		return levels(depth - 1, last) + 1;
	} catch (...) {
		if (depth < last)
			throw;
		return 1;
	}
}

static int next(int rounds)
{
	int sum = 0, all = 0;

	for (int i = 0; i < rounds; i++) {
		sum += catch_may_raise(i);
		all += levels(60, i % 50);
	}
	printf("%d %d %d\n", sum, all, deleted);
	return 0;
}

// --- a stop function of the program's own, which ends by a jump

static sigjmp_buf target;
static long stops;
static uintptr_t limit;

static _Unwind_Reason_Code stop(int, _Unwind_Action actions,
				_Unwind_Exception_Class, _Unwind_Exception *,
				_Unwind_Context *context, void *)
{
	stops++;
	if (_Unwind_GetRegionStart(context) == limit ||
	    actions & _UA_END_OF_STACK)
		siglongjmp(target, 1);
	return _URC_NO_REASON;
}

KEEP int forced_nest(int depth)
{
	static thread_local _Unwind_Exception e;
	guard g;

	if (depth > zero)
		return forced_nest(depth - 1) + 1;
	memset(&e, 0, sizeof(e));
	_Unwind_ForcedUnwind(&e, stop, nullptr);
	abort();
}

KEEP int swallow(int depth)
{
	// a forced unwind is none of ours to end
	try {
		return forced_nest(depth);
	} catch (int) {
		return 1;
	}
}

int repeat_force(int rounds);

// Jumps into force itself, or when that has been unwound as well.
KEEP int force(bool late)
{
	limit = late ? reinterpret_cast<uintptr_t>(repeat_force)
		     : reinterpret_cast<uintptr_t>(force);
	if (sigsetjmp(target, 0))
		return 1;
	return swallow(20);
}

KEEP int repeat_force(int rounds)
{
	int forces = 0;

	for (int i = 0; i < rounds; i++)
		forces += force(i % 2);
	return forces;
}

static int forced(int rounds)
{
	int forces = repeat_force(rounds);

	printf("%d %ld %s\n", forces, destroyed,
	       stops >= rounds * 20 ? "every frame was seen" : "frames unseen");
	return 0;
}

// --- out of the constructor of a static object, which is tried again

static int tries;

struct reluctant {
	int n;
	KEEP reluctant() : n(++tries)
	{
		if (tries % 10)
			throw std::runtime_error("not yet");
	}
};

KEEP int reluctant_value()
{
	static reluctant r;

	return r.n;
}

KEEP int try_reluctant()
{
	try {
		return reluctant_value();
	} catch (const std::runtime_error &e) {
		return e.what()[0] == 'n' ? -1 : 0;
	}
}

static int statics()
{
	for (int i = 0; i < 12; i++)
		printf("%d\n", try_reluctant());
	return 0;
}

// --- counting frames by the unwinder's own walk

struct found {
	int all, walkers;
};

extern "C" KEEP int walker(int depth, found *f);

// the program's own frames: where the function starts is known to it
static _Unwind_Reason_Code visit(_Unwind_Context *context, void *to)
{
	auto *f = static_cast<found *>(to);

	f->all++;
	if (_Unwind_GetRegionStart(context) ==
	    reinterpret_cast<uintptr_t>(walker))
		f->walkers++;
	return _URC_NO_REASON;
}

extern "C" KEEP int walker(int depth, found *f)
{
	int result = depth ? walker(depth - 1, f) + 1
			   : _Unwind_Backtrace(visit, f) * 0;

	__asm__ volatile("" ::: "memory");
	return result;
}

static int walk()
{
	found f = {0, 0};
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += walker(30, &f);
	printf("%d %d\n", sum, f.walkers);
	return 0;
}

// --- thrown by a signal handler

static void on_fault(int)
{
	throw 3;
}

KEEP int faulty(volatile int *p)
{
	int filler[4] = {zero, zero, zero, zero};

	__asm__ volatile("" : : "r"(filler) : "memory");
	return *p + filler[zero];
}

KEEP int catch_fault()
{
	guard g;

	try {
		return faulty(nullptr);
	} catch (int got) {
		return got;
	}
}

static int handler()
{
	struct sigaction action = {};
	long sum = 0;

	action.sa_handler = on_fault;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	for (int i = 0; i < 100; i++)
		sum += catch_fault();
	printf("%ld %ld\n", sum, destroyed);
	return 0;
}

// --- the same on a stack of its own, by frames of which most return

KEEP int seldom_faulty(int i, volatile int *p)
{
	return i % 2 == zero ? *p : i;
}

KEEP int catch_aside(int i)
{
	try {
		return seldom_faulty(i, nullptr) - i;
	} catch (int got) {
		return got;
	}
}

static void *catch_many_aside(void *signal_stack)
{
	stack_t stack = {};
	long sum = 0;

	stack.ss_size = 256 << 10;
	stack.ss_sp = signal_stack;
	sigaltstack(&stack, nullptr);
	for (int i = 0; i < 100; i++)
		sum += catch_aside(i);
	printf("%ld\n", sum);
	return nullptr;
}

// Below the stack that the frames are on, and above it.
static int aside()
{
	struct sigaction action = {};
	void *below = malloc(256 << 10), *above = malloc(256 << 10);
	pthread_t thread;

	action.sa_handler = on_fault;
	action.sa_flags = SA_NODEFER | SA_ONSTACK;
	sigaction(SIGSEGV, &action, nullptr);
	catch_many_aside(below);
	pthread_create(&thread, nullptr, catch_many_aside, above);
	pthread_join(thread, nullptr);
	return 0;
}

// --- the ends of a process

KEEP void *throw_in_thread(void *)
{
	between(1);
	return nullptr;
}

static int thread()
{
	pthread_t t;

	pthread_create(&t, nullptr, throw_in_thread, nullptr);
	pthread_join(t, nullptr);
	return 0;
}

static const char *mode = "bounded";

KEEP int unlucky(const char *argument)
{
	if (argument && !strcmp(argument, "global"))
		throw std::runtime_error("in a constructor");
	return zero;
}

struct global {
	int n;
	static void __attribute__((constructor)) early(int argc, char **argv)
	{
		mode = argc > 1 ? argv[1] : mode;
	}
	KEEP global() : n(unlucky(mode))
	{
	}
};

static global the_global;

KEEP void promise() noexcept
{
	rethrower(1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 100;

	mode = argc > 1 ? argv[1] : mode;
	if (!strcmp(mode, "bounded"))
		return bounded(rounds, argc > 3 ? atol(argv[3]) : 256);
	if (!strcmp(mode, "caught"))
		return caught(rounds);
	if (!strcmp(mode, "foreign"))
		return foreign(rounds);
	if (!strcmp(mode, "next"))
		return next(rounds);
	if (!strcmp(mode, "forced"))
		return forced(rounds);
	if (!strcmp(mode, "pointer"))
		return pointer();
	if (!strcmp(mode, "statics"))
		return statics();
	if (!strcmp(mode, "walk"))
		return walk();
	if (!strcmp(mode, "handler"))
		return handler();
	if (!strcmp(mode, "aside"))
		return aside();
	if (!strcmp(mode, "thread"))
		return thread();
	if (!strcmp(mode, "promise"))
		promise();
	return the_global.n + 2;
}
