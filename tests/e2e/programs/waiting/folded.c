#include <unistd.h>
static volatile long sink;
__attribute__((noipa)) void half_way(int n);
__attribute__((noipa)) void down(int n)
{
	for (int i = 0; i < 2000; i++)
		sink = i;
	if (n == 20)
		half_way(n);
	else if (n)
		down(n - 1);
	else
		usleep(3000);
	sink = n;
}
__attribute__((noipa)) void half_way(int n)
{
	for (int i = 0; i < 300000; i++)
		sink = i;
	down(n - 1);
	sink = n;
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		down(40);
	return 0;
}
