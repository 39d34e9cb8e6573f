#include <stdio.h>
static char last[256], first[BYTES];
__attribute__((noinline)) int near_end(void)
{
	return ++last[0]; /* as the first thing that it does */
}
__attribute__((noinline)) int store(int n)
{
	first[(BYTES / 16) * n] = (char)n;
	return first[1] + n;
}
#ifndef LIBRARY
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += store(i) + near_end();
	printf("%d\n", sum);
	return 0;
}
#endif
