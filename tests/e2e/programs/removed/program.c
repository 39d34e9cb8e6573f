#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
long outer(long x);
int main(int argc, char **argv)
{
	long (*work)(long) = outer, x = 0;

	if (argc > 1) {
		work = (long (*)(long))dlsym(dlopen(argv[1], RTLD_NOW), "outer");
		unlink(argv[1]);
	}
	fclose(fopen("ready", "w"));
	while (access("stop", F_OK) != 0)
		x += work(x);
	return x == 1 ? 1 : 3;
}
