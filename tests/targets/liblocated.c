/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const */
/* The other source file of tests/targets/located.c. */
#define HEADER_FUNCTION header_two
#include "located.h"

volatile long located_sink;

long other_file(long n);

long other_file(long n)
{
	from_header(n);
	return header_two(n) + 2;
}
