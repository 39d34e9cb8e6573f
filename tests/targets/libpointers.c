/* What asks dlsym in ways of its own, and has addresses as data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

void *pointers_find(void *where, const char *name);
int pointers_call(int times);
int pointers_is_taken(void *function);
int pointers_mix(int a, int b);

/* Without a frame. */
int pointers_mix(int a, int b)
{
	return (a ^ (b << 7)) * 2654435 + (b & 0x7f7f7f) - (a >> 3);
}

/* A jump to dlsym, which then looks at the caller's module. */
void *pointers_find(void *where, const char *name)
{
	return dlsym(where, name);
}

/* In the place of libc's, which it is to find. */
gid_t getegid(void)
{
	gid_t (*next)(void) = (gid_t(*)(void))dlsym(RTLD_NEXT, "getegid");

	return next == getegid ? (gid_t)-1 : next() + (getsid(0) < 0);
}

int pointers_call(int times)
{
	pid_t (*parent)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "getppid");
	int right = 0;

	for (int i = 0; i < times; i++)
		right += parent() > 0;
	return right;
}

static pid_t (*volatile taken)(void) = getpgrp;

int pointers_is_taken(void *function)
{
	return getpgrp() > 0 && (void *)taken == function;
}
