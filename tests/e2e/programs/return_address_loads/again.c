#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int round = 0; round < 3; round++) {
		void *library = dlopen(argv[argc - 1], RTLD_NOW);
		long (*from_here)(void *, long) = 0;

		if (library)
			*(void **)&from_here = dlsym(library, "call_from_here");
		if (!from_here)
			return 1;
		printf("%ld %ld %ld\n",
		       from_here(dlsym(library, "far_load"), 0),
		       from_here(dlsym(library, "far_load_twice"), round),
		       from_here(dlsym(library, "far_load_and_a_number"), 0));
		dlclose(library);
	}
	return 0;
}
