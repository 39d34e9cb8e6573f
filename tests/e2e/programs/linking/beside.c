#include <stdio.h>

int beside(long which, long next), amid(int times);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += beside(i, 1) + amid(i);
	printf("%d\n", sum);
	return 0;
}
