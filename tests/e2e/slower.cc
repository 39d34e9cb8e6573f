/* For test_diff.sh: two functions, of which one takes four times as long. */

#define APART __attribute__((noipa))

static volatile long sum;

static APART void heavy(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum = sum + i;
}

static APART void steady(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum = sum + i;
}

int main()
{
	for (int i = 0; i < 50; i++) {
		heavy(160000);
		steady(40000);
	}
	return 0;
}
