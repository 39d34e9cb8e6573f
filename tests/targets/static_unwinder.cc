// build: -O2 -static-libgcc -static-libstdc++
// An unwinder of the program's own, which exports nothing: throws into the very
// next frame, through 50 frames with destructors, again from a handler.
#include <cstdio>
#include <stdexcept>

#define KEEP __attribute__((noinline))

struct guard {
	int *count;
	~guard()
	{
		++*count;
	}
};

static int destroyed;

KEEP int thrower(int i)
{
	if (i % 2)
		throw std::runtime_error("odd");
	return i;
}

KEEP int catcher(int i)
{
	try {
		return thrower(i);
	} catch (const std::exception &) {
		return 2 * i;
	}
}

KEEP int deep(int n)
{
	guard g{&destroyed};

	if (!n)
		throw 5;
	n = deep(n - 1);
	__asm__ volatile("");
	return n + 1;
}

KEEP int rethrower()
{
	try {
		try {
			return deep(50);
		} catch (int) {
			throw;
		}
	} catch (int v) {
		return v;
	}
}

int main()
{
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += catcher(i) + rethrower();
	std::printf("%ld %d\n", sum, destroyed);
	return sum == 754500 && destroyed == 51000 ? 7 : 1;
}
