#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int lib_next(int n, long *out);
__attribute__((noipa)) int own(int x) { return x * 2; }
static void load(const char *path)
{
	void *plug = dlopen(path, RTLD_NOW);
	int (*next)(int, long *) = (int (*)(int, long *))dlsym(plug, "plug_next");
	long out = 1;

	printf("%d %ld\n", next(-4, &out), out);
	fflush(stdout);
	dlclose(plug);
}
int main(int argc, char **argv)
{
	long out = 0;

	printf("%d %ld\n", lib_next(4, &out), out);
	own(3);
	if (argc > 1)
		load(argv[1]);
	if (argc > 1 && fork() == 0) {
		load(argv[1]);
		execl(argv[0], argv[0], (char *)0);
	}
	wait(0);
	return 0;
}
