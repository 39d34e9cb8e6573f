/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const -llocated
 */
/* Functions of three source files with known counts, for filters by file:
 *   main -> 3 begins_inlined -> 1 header_one (of located.h)
 *        -> 5 other_file (of liblocated.c) -> 1 header_two (of located.h) */
#include <stdio.h>

#define HEADER_FUNCTION header_one
#include "located.h"

long other_file(long n);

__attribute__((noinline)) static long begins_inlined(long n)
{
	from_header(n);
	return header_one(n) + 1;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 3; i++)
		sum += begins_inlined(i);
	for (int i = 0; i < 5; i++)
		sum += other_file(i);
	printf("%ld\n", sum);
	return 0;
}
