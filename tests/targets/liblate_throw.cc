// build: -g
// Exceptions pass through it, and come from it.
#include <stdexcept>

struct counted {
	int *count;
	~counted()
	{
		++*count;
	}
};

extern "C" __attribute__((noipa)) int throw_through(void (*f)(int), int x,
						    int *destroyed)
{
	counted c{destroyed};

	f(x);
	return x;
}

extern "C" __attribute__((noipa)) void throw_here(int x)
{
	if (x % 2)
		throw std::runtime_error("odd");
}

extern "C" __attribute__((noipa)) int catch_here(void (*f)(int), int x)
{
	try {
		f(x);
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}
