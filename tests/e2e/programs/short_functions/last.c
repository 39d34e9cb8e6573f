#include <stdio.h>

int less(const void *a, const void *b);
int unknown(int n);

int main(void)
{
	int v[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1}, s = 0;

	for (int i = 0; i < 9; i++)
		s += less(v + i, v);
	printf("%d %d\n", s, unknown(s));
}
