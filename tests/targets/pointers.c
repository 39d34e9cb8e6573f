/* build: -lpointers */
/* Calls through pointers from dlsym, which looks at the module that calls it:
 * pointers [LIBRARY ROUNDS], for a library that is loaded so many times. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

void *pointers_find(void *where, const char *name);
int pointers_call(int times);
int pointers_is_taken(void *function);

typedef int call(void);

/* Without a frame. */
__attribute__((noinline)) static int mix(int a, int b)
{
	return (a ^ (b << 7)) * 2654435 + (b & 0x7f7f7f) - (a >> 3);
}

static int of(void *function, int times)
{
	call *f = (call *)function;
	int right = 0;

	for (int i = 0; i < times; i++)
		right += f() > 0;
	return right;
}

static const char *home_of(void *function)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(function, &info))
		return "nowhere";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static void found(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	void *parent = dlsym(RTLD_DEFAULT, "getppid");
	void *session = dlsym(libc, "getsid");

	printf("getppid %d %d\n", getppid() > 0, of(parent, 10));
	printf("getsid %d\n", ((pid_t(*)(pid_t))session)(0) == getsid(0));
	printf("same %d %d\n", dlsym(libc, "getppid") == parent,
	       dlvsym(RTLD_DEFAULT, "getppid", "GLIBC_2.2.5") == parent);
	printf("by a jump %d\n", of(pointers_find(libc, "getppid"), 10));
	printf("next %d\n",
	       getegid() == (gid_t)of(dlsym(libc, "getegid"), 0) + getegid());
	printf("in the library %d\n", pointers_call(10));
}

/* What must be the very pointer. */
static void kept(void)
{
	void *volatile heap = (void *)malloc;
	void *nice = dlsym(RTLD_DEFAULT, "getpriority");

	printf("taken %d %d\n", dlsym(RTLD_DEFAULT, "malloc") == heap,
	       pointers_is_taken(dlsym(RTLD_DEFAULT, "getpgrp")));
	printf("imported by nobody: %s\n", home_of(nice));
	printf("missing %d", dlsym(RTLD_DEFAULT, "nobody_has_this") == NULL);
	printf(" %s\n", strstr(dlerror(), "undefined symbol: nobody"));
	printf("version %d", dlvsym(RTLD_DEFAULT, "getppid", "NONE") == NULL);
	printf(" %s\n", strstr(dlerror(), "undefined symbol"));
}

/* ------------------------------------- unwound at each instruction of dlsym */

int main(int argc, char **argv);
void *stepped(const char *name);

static volatile int steps, lost;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *passed)
{
	void *ip = (void *)_Unwind_GetIP(context);
	void *function = _Unwind_FindEnclosingFunction(ip);

	*(int *)passed += function == (void *)main ||
			  function == (void *)stepped;
	return _URC_NO_REASON;
}

static void on_step(int signal)
{
	int passed = 0;

	(void)signal;
	_Unwind_Backtrace(look, &passed);
	steps++;
	lost += passed != 2;
}

/* The flags go over the stack. */
__attribute__((noipa, optimize("no-omit-frame-pointer"))) void *stepped(
	const char *name)
{
	void *result;

	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::
				 : "memory", "cc");
	result = dlsym(RTLD_DEFAULT, name);
	__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::
				 : "memory", "cc");
	return result;
}

static void unwound(void)
{
	signal(SIGTRAP, on_step);
	printf("stepped %d", of(stepped("getppid"), 10));
	printf(" %d, lost %d\n", steps > 100, lost);
	signal(SIGTRAP, SIG_DFL);
}

static void loaded(const char *path, int rounds)
{
	int right = 0;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		int (*calls)(int) = (int (*)(int))dlsym(library,
							"pointers_call");

		right += calls(10);
		dlclose(library);
	}
	printf("late %d\n", right);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		printf("getppid %d\n", getppid() > 0);
		loaded(argv[1], atoi(argv[2]));
		return 0;
	}
	found();
	kept();
	unwound();
	return mix(argc, argc) == 0;
}
