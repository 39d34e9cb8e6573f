#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
static void set(unsigned long soft_mib, unsigned long hard_mib)
{
	struct rlimit limit = {soft_mib << 20, hard_mib << 20};
	int result;

	errno = 0;
	result = setrlimit(RLIMIT_AS, &limit);
	printf("%d %d", result, errno);
	errno = 0;
	result = prlimit(0, RLIMIT_AS, &limit, NULL);
	printf(", %d %d", result, errno);
	getrlimit(RLIMIT_AS, &limit);
	printf(": %lu %lu\n", (long)limit.rlim_cur, (long)limit.rlim_max);
}
int main(void)
{
	set(1024, 3072);
	set(2048, 4096);
	set(3072, 3072);
	set(1024, 2048);
	set(1024, 2049);
	return 0;
}
