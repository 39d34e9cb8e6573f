#define APART __attribute__((noipa))
static volatile long sum;

APART static void leaf(int n)
{
	sum = sum + n;
}

static inline __attribute__((always_inline)) void small(int n)
{
	leaf(n); /* in small */
	leaf(n + 1);
}

APART static void around(int n)
{
	int seen = n;
	APART void within(int m)
	{
		small(m + seen); /* into within */
		seen++;
	}

	within(n);
	within(n + 1);
}

int main(void)
{
	around(1);
	return 0;
}
