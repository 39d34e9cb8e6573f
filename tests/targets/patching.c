/* build: -fPIC -lpatching */
/* Calls each function of libpatching.S ten times and prints what it returns. */
#include <stdio.h>

typedef long function(long n, void *p);

extern const struct {
	function *function;
	const char *name;
} patching_table[];
long invoke(function *function, long n, void *p);
function whence;

int main(void)
{
	function *pointers[] = {whence, whence};

	for (int i = 0; patching_table[i].function; i++) {
		printf("%s:", patching_table[i].name);
		for (long n = 0; n < 10; n++)
			printf(" %ld",
			       invoke(patching_table[i].function, n, pointers));
		printf("\n");
	}
	return 0;
}
