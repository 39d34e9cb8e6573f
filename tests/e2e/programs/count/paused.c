#include "swizzle.h"
static volatile long sink;
__attribute__((noinline)) void step(void) { sink = sink + 1; }
__attribute__((noinline)) void other(void) { sink = sink + 2; }
static void both(void) { step(), other(); }
int main(void)
{
	for (int i = 0; i < 3; i++)
		both();
	swizzle_pause();
	for (int i = 0; i < 1000; i++)
		both();
	swizzle_resume();
	both();
	swizzle_pause_process();
	for (int i = 0; i < 1000; i++)
		both();
	swizzle_resume_process();
	both();
	return 0;
}
