// build: -g
// Exceptions across a library that was loaded by dlopen.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

static void *library;

template <typename T> static T symbol(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		puts(dlerror());
		exit(1);
	}
	return reinterpret_cast<T>(found);
}

extern "C" __attribute__((noipa)) void throw_odd(int x)
{
	if (x % 2)
		throw std::runtime_error("odd");
}

int main()
{
	int caught = 0, destroyed = 0, here = 0;

	for (int round = 0; round < 3; round++) {
		library = dlopen("liblate_throw.so", RTLD_NOW);
		if (!library) {
			puts(dlerror());
			return 1;
		}
		auto through = symbol<int (*)(void (*)(int), int, int *)>(
			"throw_through");
		auto catch_here = symbol<int (*)(void (*)(int), int)>(
			"catch_here");
		auto throw_here = symbol<void (*)(int)>("throw_here");

		for (int i = 0; i < 100; i++) {
			try {
				through(throw_odd, i, &destroyed);
			} catch (const std::exception &) {
				caught++;
			}
			try {
				throw_here(i);
			} catch (const std::exception &) {
				caught++;
			}
			here += catch_here(throw_odd, i);
		}
		dlclose(library);
	}
	printf("%d %d %d\n", caught, destroyed, here);
	return 0;
}
