#include <stdio.h>
#define F __attribute__((noinline, noclone))
F int leaf(int x)
{
	volatile int s = 0;

	for (int i = 0; i < 20; i++)
		s += x;
	return s;
}
F int one(int x) { return x + 1; }
F int work(int n) { return leaf(n) + leaf(n + 1) + 3; }
F int other(int n) { return leaf(n) + one(n); }
F int twice(int n) { return n ? twice(n - 1) + 2 : 0; }
int main(void)
{
	int s = twice(50);

	for (int i = 0; i < 1000; i++)
		s += work(i);
	for (int i = 0; i < 300; i++)
		s += other(i);
	printf("%d\n", s);
	return 0;
}
