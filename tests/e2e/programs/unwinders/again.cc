#include <cstdio>
#include <dlfcn.h>

int main()
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("./libown_1.so", RTLD_NOW);
		int (*own)(int);

		if (!library)
			return 1;
		*(void **)&own = dlsym(library, "own_1");
		printf("%d\n", own(i));
		dlclose(library);
	}
}
