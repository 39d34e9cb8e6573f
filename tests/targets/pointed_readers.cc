/* Functions that go on to one that looks at its return address, by a jump
 * through a table of pointers, as a loader of libraries has, or a preloaded
 * library that stands before others. What each has found is printed. A library
 * "libpointed.so" is to be found by this program's RUNPATH. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define NOINLINE __attribute__((noinline))
#define SHOWN extern "C" __attribute__((visibility("default"), noinline))
#define ROUNDS 30

static struct {
	void *(*open)(const char *, int);
	void *(*open_in)(Lmid_t, const char *, int);
	void *(*find)(void *, const char *);
	void *(*find_version)(void *, const char *, const char *);
	int (*set_jump)(sigjmp_buf, int);
	int (*get_context)(ucontext_t *);
	int (*swap_context)(ucontext_t *, const ucontext_t *);
	pid_t (*fork)(void);
	_Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void *);
	_Unwind_Reason_Code (*raise)(_Unwind_Exception *);
	_Unwind_Reason_Code (*rethrow)(_Unwind_Exception *);
	_Unwind_Reason_Code (*force)(_Unwind_Exception *, _Unwind_Stop_Fn,
				     void *);
} volatile table;

static void fill_table()
{
	*(void **)&table.open = dlsym(RTLD_DEFAULT, "dlopen");
	*(void **)&table.open_in = dlsym(RTLD_DEFAULT, "dlmopen");
	*(void **)&table.find = dlsym(RTLD_DEFAULT, "dlsym");
	*(void **)&table.find_version = dlsym(RTLD_DEFAULT, "dlvsym");
	table.set_jump = __sigsetjmp;
	table.get_context = getcontext;
	table.swap_context = swapcontext;
	table.fork = vfork;
	table.walk = _Unwind_Backtrace;
	*(void **)&table.raise = dlsym(RTLD_NEXT, "_Unwind_RaiseException");
	*(void **)&table.rethrow = dlsym(RTLD_NEXT,
					 "_Unwind_Resume_or_Rethrow");
	*(void **)&table.force = dlsym(RTLD_NEXT, "_Unwind_ForcedUnwind");
}

SHOWN void *to_open(const char *name, int flags)
{
	return table.open(name, flags);
}
SHOWN void *to_open_in(Lmid_t space, const char *name, int flags)
{
	return table.open_in(space, name, flags);
}
SHOWN void *to_find(void *library, const char *name)
{
	return table.find(library, name);
}
SHOWN void *to_find_version(void *library, const char *name,
			    const char *version)
{
	return table.find_version(library, name, version);
}
SHOWN __attribute__((returns_twice)) int to_set_jump(sigjmp_buf env, int mask)
{
	return table.set_jump(env, mask);
}
SHOWN __attribute__((returns_twice)) int to_get_context(ucontext_t *context)
{
	return table.get_context(context);
}
SHOWN int to_swap_context(ucontext_t *from, const ucontext_t *to)
{
	return table.swap_context(from, to);
}
SHOWN __attribute__((returns_twice)) pid_t to_fork()
{
	return table.fork();
}
SHOWN _Unwind_Reason_Code to_walk(_Unwind_Trace_Fn visit, void *argument)
{
	return table.walk(visit, argument);
}

/* These stand before the run-time library's. */
SHOWN _Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception *e)
{
	return table.raise(e);
}
SHOWN _Unwind_Reason_Code _Unwind_Resume_or_Rethrow(_Unwind_Exception *e)
{
	return table.rethrow(e);
}
SHOWN _Unwind_Reason_Code _Unwind_ForcedUnwind(_Unwind_Exception *e,
					       _Unwind_Stop_Fn stop,
					       void *argument)
{
	return table.force(e, stop, argument);
}

static const char *module_of(void *address)
{
	Dl_info found, own;

	if (!address || !dladdr(address, &found) ||
	    !dladdr((void *)fill_table, &own))
		return "nowhere";
	return found.dli_fbase == own.dli_fbase     ? "the program"
	       : strstr(found.dli_fname, "libc.so") ? "libc"
						    : "a library";
}

static void find_functions()
{
	for (int i = 0; i < ROUNDS; i++) {
		void *library = to_open("libpointed.so", RTLD_NOW);
		void *own = to_open_in(LM_ID_BASE, NULL, RTLD_NOW);
		void *next = to_find(RTLD_NEXT, "_Unwind_RaiseException");
		void *known = to_find_version(RTLD_NEXT, "getenv",
					      "GLIBC_2.2.5");

		if (i == 0 || i == ROUNDS - 1)
			printf("library %s, program %s, next %s, getenv %s\n",
			       library ? "found" : dlerror(),
			       own ? "found" : "not found", module_of(next),
			       module_of(known));
		if (library)
			dlclose(library);
	}
}

static void jump()
{
	volatile int landed = 0;

	for (volatile int i = 0; i < ROUNDS; i++) {
		sigjmp_buf env;

		if (to_set_jump(env, i & 1) == 0)
			siglongjmp(env, 1);
		landed++;
	}
	printf("landed %d times\n", landed);
}

static ucontext_t first, second;
static char stack[65536];
static int visits;

static void visit()
{
	for (;;) {
		visits++;
		to_swap_context(&second, &first);
	}
}

static void switch_stacks()
{
	volatile int times = 0;
	ucontext_t here;

	to_get_context(&here);
	printf("context of %s\n",
	       module_of((void *)here.uc_mcontext.gregs[REG_RIP]));
	if (++times < ROUNDS)
		setcontext(&here);
	getcontext(&second);
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = sizeof(stack);
	second.uc_link = &first;
	makecontext(&second, visit, 0);
	for (int i = 0; i < ROUNDS; i++)
		to_swap_context(&first, &second);
	printf("visited %d times\n", visits);
}

static long destroyed;
struct guard {
	~guard()
	{
		destroyed++;
	}
};

NOINLINE int throws(int n)
{
	guard g;

	if (n % 3 == 0)
		throw n;
	return n;
}
NOINLINE int rethrows(int n)
{
	try {
		return throws(n) + 1;
	} catch (int) {
		throw;
	}
}
NOINLINE int deep(int depth, int n)
{
	guard g;

	return depth ? deep(depth - 1, n) + 1 : rethrows(n);
}
NOINLINE int catches(int depth, int n)
{
	try {
		return deep(depth, n) + 1;
	} catch (int thrown) {
		return -thrown;
	}
}

static void fork_children()
{
	int sum = 0;

	for (int i = 0; i < 5; i++) {
		pid_t pid = to_fork();
		int status = 0;

		if (pid == 0)
			_exit(throws(1) + 2);
		waitpid(pid, &status, 0);
		sum += WEXITSTATUS(status);
	}
	printf("children: %d\n", sum);
}

static _Unwind_Reason_Code count(_Unwind_Context *, void *frames)
{
	++*(int *)frames;
	return _URC_NO_REASON;
}

static sigjmp_buf forced;
static _Unwind_Reason_Code stop(int, _Unwind_Action, _Unwind_Exception_Class,
				_Unwind_Exception *, _Unwind_Context *, void *)
{
	siglongjmp(forced, 1);
}

static void unwind()
{
	static _Unwind_Exception exception;
	int frames = 0;
	long sum = 0;

	for (int depth = 0; depth < 40; depth++)
		for (int n = 0; n < ROUNDS; n++)
			sum += catches(depth, n);
	to_walk(count, &frames);
	printf("thrown: %ld, destroyed: %ld, frames: %d\n", sum, destroyed,
	       frames);
	if (to_set_jump(forced, 0) == 0)
		_Unwind_ForcedUnwind(&exception, stop, NULL);
	printf("forced\n");
}

int main()
{
	fill_table();
	find_functions();
	jump();
	switch_stacks();
	fork_children();
	unwind();
	return 0;
}
