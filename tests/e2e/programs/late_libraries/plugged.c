#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int (*f)(int) = 0;
		void *library;

		rename(argv[i], "./plug.so");
		library = dlopen("./plug.so", RTLD_NOW);
		if (library)
			f = (int (*)(int))dlsym(library, "behind");
		printf("%d\n", f ? f(i) : -1);
		if (library)
			dlclose(library);
	}
	return 4;
}
