#define KEEP __attribute__((noinline, noclone))
static volatile int sum;
namespace { struct inner { KEEP void work() { sum = sum + 1; } }; }
namespace shop {
	KEEP void over(int) { sum = sum + 1; }
	KEEP void over(long) { sum = sum + 2; }
	template <typename T> struct box {
		KEEP box() { sum = sum + 1; }
		KEEP ~box() { sum = sum + 2; }
		KEEP T operator()(T x) { sum = sum + 3; return x; }
		KEEP operator int() { sum = sum + 4; return 1; }
		template <int n> KEEP void add() { sum = sum + n; }
	};
}
KEEP void each(void (*f)(int)) { f(3); }
int main()
{
	inner().work();
	shop::over(1);
	shop::over(2L);
	shop::box<int> a;
	shop::box<char *> b;
	a(1);
	b(0);
	a.add<5>();
	a.add<-7>();
	each([](int n) { sum = sum + n; });
	return (int)a - 1;
}
