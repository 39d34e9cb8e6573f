#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
typedef int function(void);
int who(void) { return 2; }
__attribute__((noipa)) function *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}
__attribute__((noipa)) function *next_version(const char *name)
{
	return dlvsym(RTLD_NEXT, name, "VERSION");
}
__attribute__((noipa)) long measure(const char *name)
{
	return atol(name);
}
int ask(void)
{
	return 10 * next("who")() + next_version("who")() + measure("0");
}
#ifdef TAKEN
void *volatile taken;
void take(void)
{
	taken = (void *)&dlvsym;
	taken = (void *)&dlsym;
}
#endif
