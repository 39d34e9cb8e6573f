#include <stdio.h>
static int one(int x)
{
	return x * 3 % 5 + 1;
}
static int two(int x)
{
	return x * 3 % 5 + 2;
}
int other(int) __attribute__((alias("aliased")));
__attribute__((noinline)) int aliased(int x)
{
	return x * 5 % 7;
}
__attribute__((noinline)) int same_one(int x)
{
	return x * 9 % 11;
}
__attribute__((noinline)) int same_two(int x)
{
	return x * 9 % 11;
}
static int (*choose(void))(int)
{
	static volatile int best = 1;
	return best ? two : one;
}
int indirect(int) __attribute__((ifunc("choose")));
__asm__(".symver old_name, versioned@V1\n.symver new_name, versioned@@V2");
__attribute__((noinline)) int old_name(int x)
{
	return x % 3 - 1;
}
__attribute__((noinline)) int new_name(int x)
{
	return x % 3 - 2;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 20; i++)
		sum += indirect(i) + aliased(i) + other(i) + same_one(i) +
		       same_two(i) + old_name(i) + new_name(i);
	printf("%d\n", sum);
	return 0;
}
