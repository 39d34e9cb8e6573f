#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
int main(void)
{
	struct rlimit limit = {200 << 20, 200 << 20};

	setrlimit(RLIMIT_AS, &limit);
	puts(mmap(NULL, 100 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0) == MAP_FAILED
		     ? "no room"
		     : "room");
	return 0;
}
