#include <stdio.h>
long first(long n);
long second(long n);
__asm__(".text\n.balign 16\n"
	".globl first\n.type first, @function\n"
	"first:\n.cfi_startproc\n"
	"movabs $0x9090909090909090, %rax\n"
	"movabs $0x9090909090909000, %rdx\n"
	"sub %rdx, %rax\nadd %rdi, %rax\nret\n"
	".cfi_endproc\n.size first, . - first\n.balign 16\n"
	".globl second\n.type second, @function\n"
	"second:\n.cfi_startproc\n"
	"movabs $0x9090909090909090, %rax\n"
	"lea 1(%rdi), %rax\nret\n"
	".cfi_endproc\n.size second, . - second\n");
int main(void)
{
	printf("%ld %ld\n", first(1), second(2));
	return 0;
}
