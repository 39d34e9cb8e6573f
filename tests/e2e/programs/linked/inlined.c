#include <stdio.h>

static inline int leaf(int x)
{
	return x * 2 + 1;
}

__attribute__((noinline)) int work(int n)
{
	return leaf(n) + 3;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 1000; i++)
		s += work(i);
	printf("%d\n", s);
}
