/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const -lpart */
/* A call graph with known counts, for filters:
 *   main -> 3 alpha -> 2 beta -> 5 gamma
 *        -> 4 delta -> 1 gamma, 2 part_work -> 1 part_inner (libpart.so) */
#include <stdio.h>

long part_work(long n);

static volatile long sink;

long gamma_(long n)
{
	sink = n;
	return n + 1;
}

long beta(long n)
{
	for (int i = 0; i < 5; i++)
		n += gamma_(i);
	return n;
}

long alpha(long n)
{
	n += beta(n);
	return n + beta(n + 1);
}

long delta(long n)
{
	n += gamma_(n);
	n += part_work(n);
	return n + part_work(n + 1);
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 3; i++)
		sum += alpha(i);
	for (int i = 0; i < 4; i++)
		sum += delta(i);
	printf("%ld\n", sum);
	return 0;
}
