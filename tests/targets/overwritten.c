/* build: -O1 -fno-omit-frame-pointer -fno-inline */
/* Puts a breakpoint over the `ret` of a function that is not called any more,
 * as code that replaces functions may, and asks dlsym again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

extern unsigned char mix_return[];
int mix(int a, int b);

/* The only one without a frame. */
__asm__(".pushsection .text\n"
	".globl mix, mix_return\n"
	".type mix, @function\n"
	"mix:\n"
	"	.cfi_startproc\n"
	"	movl %edi, %eax\n"
	"	shll $7, %esi\n"
	"	xorl %esi, %eax\n"
	"	imull $2654435, %eax, %eax\n"
	"	addl $0x12345678, %eax\n"
	"	sarl $3, %edi\n"
	"	subl %edi, %eax\n"
	"mix_return:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size mix, . - mix\n"
	".popsection\n");

static int ask(int times)
{
	int (*parent)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "getppid");
	int right = 0;

	for (int i = 0; i < times; i++)
		right += parent() > 0;
	return right;
}

int main(void)
{
	char *page = (char *)((uintptr_t)mix_return & -(uintptr_t)4096);

	printf("%d %d\n", mix(1, 2), getppid() > 0);
	printf("%d\n", ask(10));
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return 1;
	*mix_return = 0xcc;
	printf("%d\n", ask(10));
	return 0;
}
