#include "small.h"

#define APART __attribute__((noipa))
static volatile long sum;

static inline __attribute__((always_inline)) void near(int n)
{
	leaf(n); /* in near */
}

APART void leaf(int n)
{
	sum = sum + n;
}

APART static void caller(int n)
{
	small(n); /* into caller */
	near(n);
	leaf(n); /* own */
}

APART static void nested(int n)
{
	outer(n); /* into nested */
}

/* Recursive: what it calls in small() is not nested in itself. */
APART static void down(int n)
{
	small(n); /* into down */
	if (n > 0)
		down(n - 1);
}

/* Recursive through what is called in dispatch(), each in the other. */
APART static void visit(int n)
{
	for (volatile int i = 0; i < 10000; i++)
		;
	if (n > 0)
		dispatch(n); /* into visit */
}

APART void visit_one(int n)
{
	visit(n - 1);
}

APART void visit_two(int n)
{
	visit(n - 1);
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		caller(i);
		nested(i);
	}
	down(4);
	visit(20);
	return 0;
}
