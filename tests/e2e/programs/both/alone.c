#include <unistd.h>
__attribute__((noinline)) static void work(void)
{
	for (volatile long i = 0; i < 100000000; i++)
		;
}
int main(int argc, char **argv)
{
	(void)argv;
	do
		work();
	while (argc > 1 && write(1, "x\n", 2) == 2);
	return 4;
}
