/* A function in several pieces, as clang makes them where each block gets a
 * section (-fbasic-block-sections=all): symbols of pieces have no type. What
 * lies below the stack pointer is found by a pointer, so only the name says
 * that the second piece is none to be hooked. */
#include <stdio.h>

long in_blocks(long n);

__asm__(".globl in_blocks\n"
	".type in_blocks, @function\n"
	"in_blocks:\n"
	".cfi_startproc\n"
	"	movq	%rdi, -8(%rsp)\n"
	"	leaq	-8(%rsp), %rcx\n"
	"	testb	$1, %dil\n"
	"	jne	in_blocks.__part.1\n"
	"	movq	(%rcx), %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size in_blocks, . - in_blocks\n"
	".cfi_startproc\n"
	"in_blocks.__part.1:\n"
	"	imulq	$7, (%rcx), %rax\n"
	"	addq	$1, %rax\n"
	"	ret\n"
	".cfi_endproc\n");

int main(void)
{
	for (long n = 0; n < 10; n++)
		printf("%ld\n", in_blocks(n));
	return 0;
}
