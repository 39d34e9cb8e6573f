#include <stdio.h>
char *keeps(int), *pops(void);
int main(void)
{
	long counted;
	for (int i = 0; i < 3; i++) {
		char *popped = pops(), *kept = keeps(0);
		__asm__ volatile("push %1\n call counted\n pop %%rdx"
				 : "=a"(counted)
				 : "r"(7l + i)
				 : "rdx", "rcx", "memory", "cc");
		printf("%td %td %d %ld\n", popped - (char *)main,
		       kept - (char *)main, keeps(1) == 0, counted);
	}
	return 0;
}
