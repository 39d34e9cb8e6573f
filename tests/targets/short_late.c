/* build: -ldl */
/* Loads libshort.so, calls each of its functions once, unloads it; four times,
 * with something else at its place after the second time. Prints the sums of
 * what is returned. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef long function(long n, void (*g)(void));

struct entry {
	function *function;
	int number, jumps;
};

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (!address)
		printf("%s\n", dlerror());
	return address;
}

int main(int argc, char **argv)
{
	char path[4096];

	(void)argc;
	snprintf(path, sizeof(path) - 16, "%s", argv[0]);
	strcpy(strrchr(path, '/') + 1, "libshort.so");
	for (int i = 0; i < 4; i++) {
		void *library = dlopen(path, RTLD_NOW), *taken = MAP_FAILED;
		long (*invoke)(function *, long, void (*)(void));
		void (*returns_77)(void);
		const struct entry *table;
		unsigned long sum = 0;

		if (!library) {
			printf("%s\n", dlerror());
			return 1;
		}
		*(void **)&invoke = symbol(library, "invoke");
		*(void **)&returns_77 = symbol(library, "returns_77");
		table = symbol(library, "short_table");
		for (int k = 0; table[k].function; k++)
			sum = sum * 31 +
			      (unsigned long)invoke(table[k].function, 1,
						    returns_77);
		printf("%lu\n", sum);
		dlclose(library);
		if (i == 1)
			taken = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		(void)taken;
	}
	return 0;
}
