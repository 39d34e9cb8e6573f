/* build: -fPIC -lloads */
/* Calls each function of libloads.S ten times and prints what it returns. */
#include <stdio.h>

typedef long function(long n);

extern const struct {
	function *function;
	const char *name;
} loads_table[];
long call_from_here(function *function, long n);

int main(void)
{
	for (int i = 0; loads_table[i].function; i++) {
		printf("%s:", loads_table[i].name);
		for (long n = 0; n < 10; n++)
			printf(" %ld",
			       call_from_here(loads_table[i].function, n));
		printf("\n");
	}
	return 0;
}
