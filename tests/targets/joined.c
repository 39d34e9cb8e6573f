/* build: -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp */
/* The same calls in every run, with known shares of the processor time: the
 * callers light and heavy of work, qsort's calls of compare, a recursion of
 * even and odd that is too deep to be recorded as it is, and rare, which takes
 * no time. Prints the processor time of each in ms, before main, and of the
 * process. "joined exit N": ends at once. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void work(int units)
{
	for (int i = 0; i < units * 1000; i++)
		sink += (unsigned long)i;
}

static void light(void)
{
	for (int i = 0; i < 1000; i++)
		work(50);
}

static void heavy(void)
{
	for (int i = 0; i < 1000; i++)
		work(150);
}

static int compare(const void *left, const void *right)
{
	for (int i = 0; i < 5000; i++)
		sink += (unsigned long)i;
	return *(const int *)left - *(const int *)right;
}

static void sort(void)
{
	static int numbers[2048];

	for (int i = 0; i < 2048; i++)
		numbers[i] = i * 7919 % 2048;
	qsort(numbers, 2048, sizeof(*numbers), compare);
}

static int odd(int n);

static int even(int n)
{
	for (int i = 0; i < 500000; i++)
		sink += (unsigned long)i;
	return n ? odd(n - 1) : 1;
}

static int odd(int n)
{
	return n ? even(n - 1) : 0;
}

static void deep(void)
{
	even(200);
}

static void rare(void)
{
	sink++;
}

static void measure(const char *name, void (*function)(void))
{
	double start = now();

	function();
	printf("%s %.3f\n", name, now() - start);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	/* what the kernel's exec and the dynamic linker took */
	printf("before %.3f\n", now());
	for (int i = 0; i < 3; i++)
		rare();
	measure("light", light);
	measure("heavy", heavy);
	measure("sort", sort);
	measure("deep", deep);
	printf("process %.3f\n", now());
	return 0;
}
