#include <stdio.h>
static char room[3ul << 30];
__attribute__((noinline)) static int touch(long at)
{
	room[at] = 3;
	return room[at] + room[at / 2];
}
int main(void)
{
	printf("%d %d\n", touch(0), touch((3l << 30) - 1));
	return 0;
}
