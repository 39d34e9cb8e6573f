#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile long sum;
__attribute__((noipa)) void work(void) { for (long i = 0; i < ROUNDS; i++) sum = sum + i; }
int main(int argc, char **argv)
{
	FILE *log = fopen(argv[1], "a+");
	char line[32];
	int before = 0;

	while (fgets(line, sizeof(line), log))
		before++;
	fprintf(log, "%s %s\n", NAME, argc > 2 ? argv[2] : "");
	puts("printed");
	work();
	/* FAILS: from this run on */
	return before + 1 >= FAILS ? 3 : STATUS;
}
