#include <time.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile(""); return n + 1; }
int main(void)
{
	int n = 0;
	for (int i = 0; i < 3000; i++) {
		nanosleep(&(struct timespec){0, 1000}, 0);
		for (int j = 0; j < 500; j++)
			n = step(n);
	}
	return n != 1500000;
}
