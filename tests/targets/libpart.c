/* build: -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const */
/* The library that tests/targets/shape.c calls. */
static volatile long sink;

long part_inner(long n)
{
	sink = n;
	return n + 1;
}

long part_work(long n)
{
	return part_inner(n) + 1;
}
