#include <stdio.h>
/* as short as that, its jump alone would have to reach */
__attribute__((noinline)) int near(int x) { return x + 1; }
__attribute__((noinline)) int after(int x) { return x * 77 + 12345; }
__attribute__((section(".apart"))) int apart(int x) { return x + 2; }
int main(void)
{
	int (*volatile far)(int) = apart;
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (!kb && status && fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld", &kb);
	printf("%d, %s\n", far(near(after(1))), kb < 500000 ? "small" : "large");
	return 0;
}
