/* build: -g -fno-optimize-sibling-calls '-Wl,-rpath,$ORIGIN' */
/* A library that is loaded while the program runs. liblate_other.c has the same
 * code under other names, so that both have the same addresses in them. */
#ifndef NAME
#define NAME(name) late_##name
#endif

#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static int state;

__attribute__((noipa)) int NAME(leaf)(int x)
{
	return x + state;
}

__attribute__((noipa)) int NAME(made)(int x)
{
	return 2 * x;
}

__attribute__((constructor)) static void NAME(constructor)(void)
{
	state = NAME(made)(0);
	state += NAME(made)(1);
	state += NAME(made)(2) - 6;
}

__attribute__((destructor)) static void NAME(destructor)(void)
{
	state = NAME(leaf)(1);
}

/* n calls of leaf */
__attribute__((noipa)) int NAME(entry)(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += NAME(leaf)(i);
	return sum;
}

/* Calls back once, */
__attribute__((noipa)) int NAME(call)(int (*back)(int), int x)
{
	return back(x) + 1;
}

/* and so does this, which is not hooked: it reads its return address. */
__attribute__((noipa)) int NAME(quiet)(int (*back)(int), int x)
{
	return back(x) + (__builtin_return_address(0) != NULL);
}

/* What the linker answers depends on who asks. */
__attribute__((noipa)) int NAME(next)(void)
{
	return dlsym(RTLD_NEXT, "getppid") != NULL;
}

/* By this library's own RUNPATH. */
__attribute__((noipa)) int NAME(origin)(void)
{
	void *part = dlopen("libpart.so", RTLD_NOW);
	int found = part != NULL;

	if (part)
		dlclose(part);
	return found;
}
