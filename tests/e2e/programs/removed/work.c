__attribute__((noinline)) static long first(long x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 3 + i;
	return x;
}
__attribute__((noinline)) static long second(long x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 5 + i;
	return x;
}
long outer(long x);
__attribute__((noinline)) long outer(long x)
{
	x = first(x);
	x = second(x);
	return x + 1;
}
