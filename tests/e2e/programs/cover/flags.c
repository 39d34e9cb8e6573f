#include <stdio.h>
/* Entered with values in all registers that a call may not change. The first
 * takes the carry, too. */
long probe(void);
__asm__(".globl callee; .type callee, @function\n"
	"callee: pushq %rbx; movq %rdi, %rbx\n"
	"leaq (%rbx,%rsi), %rbx; adcq $0, %rbx; movq %rbx, %rdi; popq %rbx\n"
	"movl $0, %esi; ret; .size callee, . - callee\n"
	".globl other; .type other, @function\n"
	"other: pushq %rbx; movq %rdi, %rbx; addq %rsi, %rbx\n"
	"leaq 2(%rbx), %rdi; popq %rbx; ret; .size other, . - other\n"
	".globl probe; .type probe, @function\n"
	"probe: pushq %r12; movl $3, %r12d; xorl %eax, %eax\n"
	"1: movq $11, %rax; movq $12, %rcx; movq $13, %rdx; movq $1, %rdi\n"
	"movq $2, %rsi; movq $14, %r8; movq $15, %r9; movq $16, %r10\n"
	"movq $17, %r11; stc; call callee; call other\n"
	"addq %rcx, %rax; addq %rdx, %rax; addq %rdi, %rax; addq %r8, %rax\n"
	"addq %r9, %rax; addq %r10, %rax; addq %r11, %rax; decl %r12d; jnz 1b\n"
	"popq %r12; ret; .size probe, . - probe\n"
	".section .note.GNU-stack,\"\",@progbits");
int main(void)
{
	printf("%ld\n", probe());
	return 0;
}
