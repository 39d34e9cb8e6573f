#include <stdio.h>
#include <sys/resource.h>
struct pair { long first, second; };
__attribute__((noinline, noipa)) long get(const struct pair *p) { return p->second; }
__attribute__((noinline, noipa, optimize("no-optimize-sibling-calls"))) long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
int main(void)
{
	struct pair p = {1, 2};
	struct rusage used;
	long sum = 0;
	for (long i = 0; i < 100000000; i++)
		sum += get(&p);
	sum += fib(37);
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %ld\n", sum, (long)used.ru_utime.tv_sec * 1000 + (long)used.ru_utime.tv_usec / 1000);
}
