#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
int main(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = limit.rlim_max / 2;
	errno = 0;
	printf("%d", setrlimit(RLIMIT_AS, &limit));
	printf(" %d\n", errno);
	return 0;
}
