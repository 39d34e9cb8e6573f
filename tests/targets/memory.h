#ifndef TESTS_TARGETS_MEMORY_H
#define TESTS_TARGETS_MEMORY_H

/* What a program that is tested holds: memory, and of that the code that came
 * to be at run time, which natively is none and under swizzle grows with the
 * number of return thunks. */

#include <stdio.h>
#include <sys/prctl.h>

/* As the kernel finds it page by page: what it keeps count of may be off by
 * some pages for each processor. And one touched page is one page. */
static inline long resident_kb(void)
{
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (!f)
		f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %ld", &kb) == 1 ||
		    sscanf(line, "VmRSS: %ld", &kb) == 1)
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
