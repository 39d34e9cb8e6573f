#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void)
{
	static int forked;
	pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
	pid_t child = next();

	if (strcmp(program_invocation_short_name, "swizzle-run") != 0)
		return child;
	if (child == 0)
		forked++;
	else if (forked)
		usleep(700000);
	return child;
}
