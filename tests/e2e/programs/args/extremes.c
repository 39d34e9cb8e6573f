#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define F __attribute__((noipa))
enum level { LOW, MID, HIGH };
volatile int three = 3; /* so that no loop becomes three calls */
F int step(const char *name, int n, unsigned char u, float f, double d, enum level l, long *out)
{ *out = n * 3; return n - 5 + (int)(u + f + d) * 0 + (int)l * 0 + (int)*name * 0; }
F int jumps(int n) { long out = 0; return n > 0 ? step("jumped", -n, 1, 1, 1, LOW, &out) : n; }
F void thrice(void) { long out = 0; for (int i = 0; i < three; i++) step(i ? "more" : "first", i * 7 - 7, (unsigned char)(200 + i), (float)i - 1.5f, 1 - 2.5 * i, i, &out); }
int main(void)
{
	thrice();
	for (int i = three; i > 0; i--)
		jumps(i);
	fflush(stdout);
	if (fork() == 0) {
		long out = 0;
		return step("child", 77, 1, 1, 1, LOW, &out) != 72;
	}
	wait(0);
	return 0;
}
