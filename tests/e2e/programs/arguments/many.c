#include <stdio.h>
__attribute__((noipa)) int work(int n)
{
	volatile int left = n * 7919 % 1000;
	while (left-- > 0)
		;
	return n % 10 ? n : -n;
}
int main(void)
{
	int sum = 0;

	for (int i = 1; i <= 1000; i++)
		sum += work(i);
	return printf("%d\n", sum) < 0;
}
