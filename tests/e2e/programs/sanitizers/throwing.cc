#include <cstdio>
__attribute__((noinline)) int throws(int n)
{
	if (n % 7 == 0)
		throw n;
	return n;
}
__attribute__((noinline)) int catches(int n)
{
	try {
		return throws(n);
	} catch (int thrown) {
		return -thrown;
	}
}
int main()
{
	long sum = 0;

	for (int n = 0; n < 100; n++)
		sum += catches(n);
	printf("%ld\n", sum);
	return 0;
}
