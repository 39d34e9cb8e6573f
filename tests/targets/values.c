/* Functions that print what they are given and what they return, as
 * `swizzle-dump -f calls` does it. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION int add(int a, int b, int c, int d)
{
	int sum = a + b + c + d;

	printf("add(arg1 = %d, arg2 = %d, arg3 = %d, arg4 = %d) = %d\n", a, b,
	       c, d, sum);
	return sum;
}

FUNCTION long many(long a, long b, long c, long d, long e, long f, long g,
		   long h)
{
	long result = a - h;

	printf("many(arg1 = %ld, arg2 = %ld, arg3 = %ld, arg4 = %ld, arg5 = "
	       "%ld, arg6 = %ld, arg7 = %ld, arg8 = %ld) = %ld\n",
	       a, b, c, d, e, f, g, h, result);
	return result;
}

FUNCTION double mixed(int a, double x, unsigned char b, float y, uint64_t c)
{
	double result = x * 2;

	printf("mixed(arg1 = %d, fparg1 = %g, arg2 = %u, fparg2 = %g, arg3 = "
	       "0x%llx) = %g\n",
	       a, x, b, (double)y, (unsigned long long)c, result);
	return result;
}

FUNCTION double nine(double a, double b, double c, double d, double e, double f,
		     double g, double h, double i)
{
	printf("nine(fparg1 = %g, fparg8 = %g, fparg9 = %g) = %g\n", a, h, i,
	       i);
	return b + c + d + e + f + g < 0 ? 0 : i;
}

FUNCTION long double wide(int a)
{
	long double result = (long double)a / 4;

	printf("wide(arg1 = %d) = %Lg\n", a, result);
	return result;
}

FUNCTION const char *text(const char *s, int limit)
{
	const char *result = limit > 2 ? "more" : NULL;

	if (!s)
		printf("text(arg1 = NULL, arg2 = %d) = %s\n", limit,
		       result ? "\"more\"" : "NULL");
	else
		printf("text(arg1 = \"%s\", arg2 = %d) = %s\n", s, limit,
		       result ? "\"more\"" : "NULL");
	return result;
}

/* Never looks at it. */
FUNCTION int bad(const char *s, const char *shown)
{
	printf("bad(arg1 = %s) = -1\n", shown);
	(void)s;
	return -1;
}

FUNCTION int last(int a)
{
	printf("last(arg1 = %d) = %d\n", a, -a);
	return -a;
}

/* What it goes on to by a jump returns for it. */
FUNCTION int tail(int a)
{
	return last(a + 1);
}

/* A page with text up to its end, and nothing behind it. */
static char *page_without_end(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	memset(memory, 'x', (size_t)page);
	munmap(memory + page, (size_t)page);
	return memory + page - 5;
}

int main(void)
{
	static char longest[301];

	memset(longest, 'y', sizeof(longest) - 1);
	add(1, -2, 3, 2147483647);
	many(1, 2, 3, 4, 5, 6, 7, -8);
	mixed(-5, 2.5, 200, 0.25f, UINT64_C(0xdeadbeefcafe));
	nine(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
	wide(7);
	text("hello", 3);
	text("", 1);
	text(NULL, 5);
	bad((const char *)8, "?");
	bad((const char *)UINT64_C(0x7fffffff0000), "?");
	bad((const char *)UINT64_C(0xdead000000000000), "?");
	bad(page_without_end(), "\"xxxxx\"?");
	bad(longest, "\"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"...");
	tail(4);
	return 0;
}
