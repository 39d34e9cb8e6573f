/* Makes many calls, and says whether it holds more memory than before. */
#include <stdlib.h>

#include "memory.h"

__attribute__((noipa)) static long leaf(long n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000, sum = 0, before;

	before = resident_kb();
	for (long i = 0; i < calls; i++)
		sum += leaf(i);
	say_growth(before, 8192);
	return sum == 0;
}
