#include <stdio.h>

long narrow(long n), enter(long n, long which);

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += narrow(i) + enter(i, 0) + enter(i, 2);
	printf("%ld\n", sum);
	return 0;
}
