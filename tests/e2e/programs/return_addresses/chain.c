#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

char *reader(long), *one(long), *two(long), *three(long), *warm(long),
	*to_warm(long), *other(long);
extern char __executable_start, etext;
static int asked;

__attribute__((noinline)) void *next(const char *name)
{
	asked++;
	return dlsym(RTLD_NEXT, name);
}
__attribute__((noinline)) void *next_but_one(const char *name)
{
	asked += 2;
	return next(name);
}
static void say(const char *name, const char *from)
{
	printf("%s: %s\n", name, from >= &__executable_start && from < &etext
		? "in the program" : "elsewhere");
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		say("reader", reader(i));
		say("one", one(i));
		say("two", two(i));
		say("three", three(i));
		say("warm", warm(i));
		say("to_warm", to_warm(i));
		say("other", other(i));
		printf("next: %d\n", next("puts") != 0);
		printf("next but one: %d\n", next_but_one("puts") != 0);
	}
	return 0;
}
