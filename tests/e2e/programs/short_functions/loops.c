#include <stdio.h>
#ifdef LATE
#include <dlfcn.h>
#define EACH(name) (*(int (*)(int, long, int))dlsym(library, #name))
#else
int by_jcc(int, long, int), by_jmp(int, long, int), by_two(int, long, int),
	by_three(int, long, int), to_call(int, long, int),
	to_start(int, long, int), entered(int, long, int),
	enters(int, long, int);
#define EACH(name) name
#endif
int main(void)
{
	for (int i = 1; i <= 10; i++) {
#ifdef LATE
		void *library = dlopen("./loops.so", RTLD_NOW);
#endif
		printf("%d %d %d %d %d %d %d %d\n", EACH(by_jcc)(i, 0, 0),
		       EACH(by_jmp)(i, 0, 0), EACH(by_two)(i, 0, 0),
		       EACH(by_three)(i, 0, 0), EACH(to_call)(i, 0, 0),
		       EACH(to_start)(i, 0, 0), EACH(entered)(i, 0, 0),
		       EACH(enters)(i, 0, 0));
#ifdef LATE
		dlclose(library);
#endif
	}
	return 0;
}
