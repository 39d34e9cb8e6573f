#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *library = dlopen("./later.so", RTLD_NOW);
	int (*run)(void) = library ? dlsym(library, "patching_main") : 0;

	if (!run)
		puts(dlerror());
	return run ? run() : 1;
}
