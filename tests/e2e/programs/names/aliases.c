static volatile long n;
__attribute__((noinline)) long second_name(long x) { n++; return x * 3; }
long public_name(long) __attribute__((alias("second_name")));
static long hidden_name(long) __attribute__((alias("second_name"), used));
long (*volatile p)(long) = public_name;
__attribute__((noinline)) long other(long x) { n++; return x * 5; }
int main(void)
{
	for (int i = 0; i < 50; i++)
		p(other(second_name(i)));
	return n != 150;
}
