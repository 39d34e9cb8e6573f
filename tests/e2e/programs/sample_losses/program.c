#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "works.h"
WORK(before)
WORK(after)
/* Each is told of, until there is no room for another one. */
static void map_code(void)
{
	for (int i = 0; i < 4000; i++)
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}
int main(int argc, char **argv)
{
	char *again[] = {argv[0], "again", NULL};
	void (*work)(double);
	if (argc > 1 && !strcmp(argv[1], "again")) {
		before(0.3);
		puts("continue");
		fflush(stdout);
		after(1);
		return 0;
	}
	before(0.2);
	puts("stop");
	fflush(stdout);
	getchar();
	before(0.4); /* until there is no room for another sample */
	map_code();
	if (argc > 1) {
		execv(argv[1], again);
		return 1;
	}
	*(void **)&work = dlsym(dlopen("./liblater.so", RTLD_NOW), "in_library");
	work(0.3);
	puts("continue");
	fflush(stdout);
	work(1);
	return 0;
}
