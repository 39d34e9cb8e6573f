#include <cstdio>

extern "C" void __cyg_profile_func_enter(void *, void *);
extern "C" void __cyg_profile_func_exit(void *, void *);
#define PLAIN __attribute__((no_instrument_function, noipa))

PLAIN void by_hand(int n) { asm volatile("" : : "r"(n)); }

static inline int throws(int n)
{
	if (n % 2)
		throw n;
	return n;
}

static inline int passes(int n) { return throws(n) + 1; }

__attribute__((noinline)) int catches(int n)
{
	try {
		return passes(n);
	} catch (int) {
		return 0;
	}
}

__attribute__((noinline)) int jumps(int n) { return catches(n + 2); }

int main()
{
	int sum = 0;

	for (int n = 0; n < 100; n++)
		sum += catches(n) + jumps(n);
	for (int n = 0; n < 10; n++) {
		__cyg_profile_func_enter((void *)&by_hand, __builtin_return_address(0));
		__cyg_profile_func_exit((void *)&by_hand, __builtin_return_address(0));
	}
	std::printf("%d\n", sum);
	return 0;
}
