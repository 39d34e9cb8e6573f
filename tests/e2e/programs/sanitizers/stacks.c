#include <stdlib.h>

__attribute__((noinline)) char *get(int n)
{
	char *p = n ? get(n - 1) : malloc(33);

	__asm__ volatile("");
	return p;
}
__attribute__((noinline)) void put(char *p, int n)
{
	if (n)
		put(p, n - 1);
	else
		free(p);
	__asm__ volatile("");
}
static int compare(const void *a, const void *b)
{
	char *p = malloc(5);

	__asm__ volatile("" : "+r"(p));
	if (*(const int *)a == 3)
		free(p);
	return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
	int numbers[] = {5, 3, 1, 4};
	char *p;

	qsort(numbers, 4, sizeof(*numbers), compare);
	p = get(4);
	put(p, 3);
	return argc > 1 ? p[3] : 0;
}
