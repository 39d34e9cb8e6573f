#include <dlfcn.h>
#include <stdio.h>
typedef void *open_function(const char *, int);
static open_function *volatile open_by_pointer;
__attribute__((noinline)) void *open_it(const char *name)
{
	return open_by_pointer(name, RTLD_NOW);
}
int main(void)
{
	open_by_pointer = (open_function *)dlsym(RTLD_DEFAULT, "dlopen");
	puts(open_it("libplugin.so") ? "found" : dlerror());
	return 0;
}
