#ifndef TESTS_TARGETS_MEMORY_H
#define TESTS_TARGETS_MEMORY_H

/* What a program that is tested holds: memory, and of that the code that came
 * to be at run time, which natively is none and under swizzle grows with the
 * number of return thunks. */

#include <stdio.h>

static inline long resident_kb(void)
{
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static inline long made_code_kb(void)
{
	char line[512];
	long kb = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long start, end, inode;

		if (sscanf(line, "%lx-%lx r-xp %*x %*s %lu", &start, &end,
			   &inode) == 3 &&
		    !inode)
			kb += (long)(end - start) / 1024;
	}
	if (f)
		fclose(f);
	return kb;
}

static inline void say_growth(long before_kb, long allowed_kb)
{
	long grown = resident_kb() - before_kb;

	if (grown > allowed_kb)
		printf("memory grew by %ld kB\n", grown);
	else
		printf("memory did not grow\n");
}

static inline void say_code_growth(long before_kb, long allowed_kb)
{
	long grown = made_code_kb() - before_kb;

	if (grown > allowed_kb)
		printf("code grew by %ld kB\n", grown);
	else
		printf("code did not grow\n");
}

#endif
