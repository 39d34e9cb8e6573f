#define KEEP __attribute__((noinline, noclone))
namespace shop {
static volatile int sink;
template <typename T> KEEP T twice(T x) { sink = sink + 1; return x + x; }
static inline __attribute__((always_inline)) int helper(int x)
{
	return twice(x) + 1;
}
KEEP int total(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += helper(i);
	return sum;
}
KEEP void over(int) { sink = sink + 1; }
KEEP void over(long) { sink = sink + 2; }
}
int main()
{
	shop::over(1);
	shop::over(1L);
	return shop::total(30) < 0;
}
