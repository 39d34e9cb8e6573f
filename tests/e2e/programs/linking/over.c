#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

extern char __executable_start;
static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

int main(void)
{
	char *low = (char *)0x20000, *high = &__executable_start;

	step(1);
	if (mmap(low, high - low, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != low)
		return 2;
	memset(low, 0xcc, high - low);
	for (int i = 0; i < 1000; i++)
		step(i);
	puts("done");
	return 0;
}
