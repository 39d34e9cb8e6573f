#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(int argc, char **argv)
{
	int x = 0;
	do {
		for (int i = 0; i < 1000; i++)
			x = step(x) % 1000;
		if (argc > 1)
			fclose(fopen(argv[1], "w"));
	} while (argc > 1 && access("stop", F_OK) != 0);
	printf("%s %d\n", argv[0], x);
	return 3;
}
