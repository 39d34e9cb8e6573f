#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) void uneven(long n)
{
	while (n--)
		sink = n;
}
int main(void)
{
	uneven(40000000L * (1 + atol(getenv("OMPI_COMM_WORLD_RANK"))));
	return 0;
}
