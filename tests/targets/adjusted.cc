/* build: -O2 -g */
// Calls that go on in a jump: thunks that adjust `this` for a second base, and
// wrappers that end in a tail call. Errors come back through both.
#include <cstdio>
#include <cstdlib>

#define FUNCTION __attribute__((noinline, noclone))

struct first {
	int a = 1;
	virtual int name()
	{
		return a;
	}
	virtual ~first()
	{
	}
};

struct second {
	int b = 2;
	virtual int load(int file) = 0;
	virtual ~second()
	{
	}
};

struct both : first, second {
	int c = 3;
	FUNCTION int load(int file) override
	{
		std::fprintf(stderr, "%s", "");
		return file == 2 ? -22 : c + file;
	}
};

FUNCTION int inner(int n)
{
	std::fprintf(stderr, "%s", "");
	return n == 3 ? -5 : n;
}

FUNCTION int wrapper(int n)
{
	return inner(n + 1);
}

FUNCTION int outer(int n)
{
	return wrapper(n + 1);
}

FUNCTION int run(second *of, int n)
{
	int result = of->load(n);

	return result < 0 ? result : outer(n);
}

int main(int argc, char **)
{
	both *object = new both;
	int sum = 0;

	for (int n = 0; n < 3; n++)
		sum += run(object, n + argc - 1) > 0;
	std::printf("%d\n", sum);
	delete object;
	return 0;
}
