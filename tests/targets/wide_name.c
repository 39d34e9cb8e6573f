/* build: -O1 */
/* For ever in a function whose name takes two columns of a terminal for each of
 * its characters. Prints a line that holds what moves a terminal's cursor. */
#include <stdio.h>

static volatile unsigned long sink;

__attribute__((noinline)) void 長い名前の関数を計算する時間(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (unsigned long)i;
}

int main(void)
{
	puts("\033[2Jescaped");
	fflush(stdout);
	for (;;)
		長い名前の関数を計算する時間();
}
