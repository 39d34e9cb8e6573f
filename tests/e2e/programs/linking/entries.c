#include <stdio.h>
__attribute__((used)) static int first(int x) /* not right behind crt's */
{
	return x % 3 + x % 5 + x % 7;
}
__attribute__((noinline)) int leaf(int x)
{
	return x * 3 % 5 + 1;
}
__attribute__((noinline)) int middle(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += leaf(i);
	return sum;
}
int main(void)
{
	printf("%d\n", middle(100));
	return 0;
}
