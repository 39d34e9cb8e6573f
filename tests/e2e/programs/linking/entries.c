// Its part is built without optimization.
#include <stdio.h>
#ifdef PART
#define leaf leaf_of_part
#define middle middle_of_part
#else
int middle_of_part(int x);
#endif
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
#ifndef PART
int main(void)
{
	printf("%d %d\n", middle(100), middle_of_part(100));
	return 0;
}
#endif
