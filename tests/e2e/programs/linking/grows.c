#include <stdio.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

int main(void)
{
	int grown = 0;

	while (grown < 3000 && sbrk(1 << 20) != (void *)-1)
		grown = step(grown) + 1;
	printf("%d MiB\n", grown);
	return 0;
}
