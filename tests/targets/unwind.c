/* build: -O2 -pthread -fexceptions -fno-inline -fno-optimize-sibling-calls */
/* Who walks the stack from hooked frames: unwind backtrace|walk|symbols */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

extern int main(int argc, char **argv);

static volatile int sink;

/* Is the address a thunk's? Native runs know none. */
static int of_swizzle(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "libswizzle");
}

static int reaches_main, frames_of_ours;

static void see(void *pc)
{
	void *start = _Unwind_FindEnclosingFunction(pc);

	if (of_swizzle(pc))
		frames_of_ours++;
	else if (start == (void *)main)
		reaches_main++;
}

static void with_backtrace(void)
{
	void *frames[256];
	int n = backtrace(frames, 256);

	for (int i = 0; i < n; i++)
		see(frames[i]);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *count)
{
	++*(int *)count;
	see((void *)_Unwind_GetIP(context));
	return _URC_NO_REASON;
}

static void with_walk(void)
{
	int count = 0;

	_Unwind_Backtrace(visit, &count);
	if (count < 20)
		printf("only %d frames\n", count);
}

static void (*look)(void);

int nest(int depth)
{
	sink = depth;
	if (depth)
		return nest(depth - 1) + 1;
	look();
	return 0;
}

static void *run(void *argument)
{
	(void)argument;
	return (void *)(long)nest(20);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "walk";
	pthread_t thread;

	look = strcmp(mode, "backtrace") ? with_walk : with_backtrace;
	for (int i = 0; i < 100; i++)
		nest(20);
	printf("%d times main was reached\n", reaches_main);
	fprintf(stderr, frames_of_ours ? "frames of ours\n" : "none of ours\n");
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", reaches_main);
	return 0;
}
