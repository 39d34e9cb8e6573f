#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *const names[] = {"first", "second", "last"};
static int counter;
#ifdef NEW
__attribute__((noipa)) int added(int n) { return printf("%d\n", n + 7); }
#endif
__attribute__((noipa)) int first(int n) { return n + ++counter; }
__attribute__((noipa)) static int second(int n)
{
#ifdef NEW
	if (n > 0)
		abort();
#endif
	return puts(names[n % 3]) + n;
}
__attribute__((noipa)) int last(int n) { return puts(names[n % 3]) + first(n); }
__attribute__((noipa)) int unused(int n) { return n * 3 + counter; }
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "first") == 0)
			first(argc);
		else if (strcmp(argv[i], "second") == 0)
			second(argc);
		else if (strcmp(argv[i], "last") == 0)
			last(argc);
	return argc > 9 ? unused(argc) : 0;
}
