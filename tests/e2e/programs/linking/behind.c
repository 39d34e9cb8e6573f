#include <stdio.h>

int behind(int which), again(int times);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += behind(i) + again(i);
	printf("%d\n", sum);
	return 0;
}
