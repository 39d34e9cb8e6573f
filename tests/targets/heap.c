/* build: -O1 -no-pie -Wl,-Ttext-segment=0x10000 -fno-inline
 * -fno-optimize-sibling-calls */
/* A heap that grows by the program break, as malloc's and Lisp's do, MiB by MiB
 * to 192 MiB. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <unistd.h>

#define MIB (1 << 20)

static char *latest;

int grow(void)
{
	char *more = sbrk(MIB);

	if (more == (void *)-1 || (latest && more != latest + MIB))
		return 0;
	latest = more;
	*more = 1;
	return 1;
}

int main(void)
{
	int grown = 0;

	while (grown < 192 && grow())
		grown++;
	printf("%d MiB\n", grown);
	return 0;
}
