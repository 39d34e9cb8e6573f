/* build: -O2 -fno-inline -fno-optimize-sibling-calls */
/* Does the same for ever, for kills. steady FILE: the number of the round that
 * it is in is always in FILE; says "go" after the first one. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile long sink;

long tick(long n)
{
	sink = n;
	return n + 1;
}

long fib(long n)
{
	return n < 2 ? tick(n) : fib(n - 1) + fib(n - 2);
}

long round_of(long n)
{
	return fib(15) + n;
}

int main(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "/dev/null", O_RDWR | O_CREAT, 0600);
	volatile uint64_t *at;

	if (ftruncate(fd, 4096) != 0)
		return 1;
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return 1;
	++*at;
	sink = round_of(sink);
	if (write(1, "go\n", 3) != 3)
		return 1;
	for (;;) {
		++*at;
		sink = round_of(sink);
	}
}
