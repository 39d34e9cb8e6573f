#include <stdlib.h>
static int leaf(int n) { return n + 1; }
static int never(int n) { return n + 2; }
static int maybe(int n) { return n > 2 ? leaf(n) : never(n); }
int unused(int n) { return leaf(n) + never(n); }
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
static int (*volatile chosen)(int) = maybe;
int main(int argc, char **argv)
{
	int list[] = {3, 1, 2};
	(void)argv;
	qsort(list, 3, sizeof(*list), compare);
	return argc > 3 ? unused(argc) : chosen(argc + 3) == 0;
}
