/* Runs a script by a Python library that it loads when it needs it: LIBRARY
 * SCRIPT. */

#include <dlfcn.h>
#include <stdio.h>

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		fprintf(stderr, "%s is not there\n", name);
	return found;
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)
				  : NULL;
	void (*initialize)(int);
	int (*run)(const char *script, void *flags);

	if (!library)
		return 2;
	initialize = (void (*)(int))find(library, "Py_InitializeEx");
	run = (int (*)(const char *, void *))find(library,
						  "PyRun_SimpleStringFlags");
	if (!initialize || !run)
		return 2;
	initialize(0);
	return run(argv[2], NULL) != 0;
}
