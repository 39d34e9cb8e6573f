#include <stdio.h>
int split(int x);
__asm__(".text\n"
	".type split,@function\n"
	"split:	test %edi,%edi\n"
	"	js split.cold\n"
	"	jne split.part.0\n"
	"	mov $3,%eax\n"
	"	ret\n"
	".size split,.-split\n"
	".p2align 4\n"
	".type split.part.0,@function\n"
	"split.part.0:	lea (%rdi,%rdi,4),%eax\n"
	"	and $1023,%eax\n"
	"	ret\n"
	".size split.part.0,.-split.part.0\n"
	".p2align 4\n"
	".type split.cold,@function\n"
	"split.cold:	neg %edi\n"
	"	mov %edi,%eax\n"
	"	ret\n"
	".size split.cold,.-split.cold\n");
int main(void)
{
	int sum = 0;
	for (int i = -3; i < 8; i++)
		sum += split(i);
	printf("%d\n", sum);
	return 0;
}
