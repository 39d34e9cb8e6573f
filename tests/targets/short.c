/* build: -fPIC -lshort */
/* Calls each function of libshort.S with 0, 1, 2 and prints what they return;
 * with an argument: how often each of them is entered. */
#include <stdio.h>

typedef long function(long n, void (*g)(void));

extern const struct {
	function *function;
	int number;
	int jumps; /* it ends in a jump to the one before */
} short_table[];
void returns_77(void);
long invoke(function *function, long n, void (*g)(void));

enum { ROUNDS = 3, MOST = 10000 };

static void print_counts(void)
{
	static int counts[MOST];
	int n = 0;

	while (n < MOST && short_table[n].function)
		n++;
	while (n-- > 0) {
		counts[n] += ROUNDS;
		if (short_table[n].jumps)
			counts[n - 1] += counts[n];
		printf("s%d %d\n", short_table[n].number, counts[n]);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		print_counts();
		return 0;
	}
	for (int i = 0; short_table[i].function; i++)
		for (long n = 0; n < ROUNDS; n++)
			printf("s%d(%ld) = %ld\n", short_table[i].number, n,
			       invoke(short_table[i].function, n, returns_77));
	return 0;
}
