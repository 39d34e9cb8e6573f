void lib_work(unsigned n);
volatile unsigned sum;

// One leaf.
// It adds up.
__attribute__((noinline, noclone)) void leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

/* Calls leaf() for each of its rounds.
 *
 * This stands above middle(), and is shown. */
__attribute__((noinline, noclone)) void middle(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		leaf(300000);
	sum++;
}

__attribute__((noinline, noclone)) void tiny(void)
{
	sum++;
}

__attribute__((noinline, noclone)) void recursive(unsigned n)
{
	if (n)
		recursive(n - 1);
	for (unsigned i = 0; i < 200000; i++)
		sum += i;
}

int main(void)
{
	for (unsigned i = 0; i < 4; i++)
		middle(10);
	lib_work(3000000);
	recursive(5);
	tiny();
	return sum == 0;
}
