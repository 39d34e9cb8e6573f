/* Recursion whose true stacks are known.
 *
 *   recursion mutual N   N times main;a;b;a;c: only the inner a calls c
 *   recursion deep N     down, N calls below its first, one in the other
 *   recursion turns N    list and value in turns, N calls of list below the
 * first recursion tree N     a binary recursion, N levels: 2^N - 1 calls
 *   recursion branch N   N times main;parse;value;list;value;leaf and
 *                        main;parse;value;leaf */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

static volatile long sink;

APART static void work(void)
{
	for (int i = 0; i < 2000; i++)
		sink += i;
}

APART void c(void)
{
	work();
	sink++;
}

APART void b(int depth);

APART void a(int depth)
{
	if (depth)
		b(depth - 1);
	else
		c();
	sink++;
}

APART void b(int depth)
{
	a(depth);
	sink++;
}

APART void down(long n)
{
	if (n)
		down(n - 1);
	sink++;
}

APART void branch_out(long levels)
{
	if (levels > 1) {
		branch_out(levels - 1);
		branch_out(levels - 1);
	}
	sink++;
}

APART void leaf(void)
{
	sink++;
}

APART void value(int depth);

APART void list(int depth)
{
	value(depth - 1);
	sink++;
}

APART void value(int depth)
{
	if (depth)
		list(depth);
	else
		leaf();
	sink++;
}

APART void parse(int depth)
{
	value(depth);
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (strcmp(what, "mutual") == 0) {
		for (long i = 0; i < n; i++)
			a(1);
	} else if (strcmp(what, "deep") == 0) {
		down(n);
	} else if (strcmp(what, "turns") == 0) {
		value((int)n);
	} else if (strcmp(what, "tree") == 0) {
		branch_out(n);
	} else if (strcmp(what, "branch") == 0) {
		for (long i = 0; i < n; i++) {
			parse(1);
			parse(0);
		}
	} else {
		return 2;
	}
	printf("%s\n", sink ? "done" : "");
	return 0;
}
