#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) void step(void) { sink = sink + 1; }
__attribute__((noinline)) void work(int n) { while (n--) step(); }
int main(void)
{
	work(1000);
	for (int i = 1; i <= 20; i++) {
		if (!fork()) {
			work(10 * i);
			i % 2 ? _exit(0) : exit(0);
		}
		work(7);
	}
	while (wait(NULL) > 0)
		;
	if (!vfork())
		_exit(0);
	return 0;
}
