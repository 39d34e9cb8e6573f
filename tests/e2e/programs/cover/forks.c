#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) void before(void) { sink = sink + 1; }
__attribute__((noinline)) void both(void) { sink = sink + 2; }
__attribute__((noinline)) void after(void) { sink = sink + 3; }
int main(void)
{
	before();
	both();
	if (!fork()) {
		both();
		after();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
