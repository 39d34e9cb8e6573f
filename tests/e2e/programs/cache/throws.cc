#include <cstdio>
__attribute__((noinline)) static int leaf(int n)
{
	if (n % 3 == 0)
		throw n;
	return n;
}
__attribute__((noinline)) static int between(int n)
{
	return leaf(n) + 1;
}
int main()
{
	int sum = 0;
	for (int i = 0; i < 30; i++) {
		try {
			sum += between(i);
		} catch (int n) {
			sum -= n;
		}
	}
	std::printf("%d\n", sum);
	return 0;
}
