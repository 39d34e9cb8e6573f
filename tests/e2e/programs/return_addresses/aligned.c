#include <stdio.h>
int main(void);
__attribute__((noinline)) void note(const char *what, char *address)
{
	printf("%s %td\n", what, address - (char *)main);
}
__attribute__((noinline)) long aligned(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 3;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its own", __builtin_return_address(0));
	return room[n];
}
__attribute__((noinline)) long above(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 4;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its caller's", __builtin_return_address(1));
	return room[n];
}
__attribute__((noinline, optimize("no-omit-frame-pointer"))) long calls(long n)
{
	return above(n) + 1;
}
int main(void)
{
	return aligned(3) + calls(5) == 8 ? 0 : 1;
}
