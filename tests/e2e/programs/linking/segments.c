#include <stdio.h>
__attribute__((noinline)) long deep(long n)
{
	volatile char room[600];

	room[n % 600] = (char)n;
	return n ? deep(n - 1) + room[n % 600] : 7;
}
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 20; i++)
		sum += deep(i * 20);
	printf("%ld\n", sum);
	return 0;
}
