/* build: -O1 */
/* Functions that jump to another one with the address of something in the frame
 * that they have just given up, as compilers make them where inline assembly
 * does not say that it writes through a pointer (libtheora's encoder): what the
 * other reads is below the stack pointer. released_frame prints the sums of
 * what is read. */
#include <stdio.h>

#define FUNCTION(name, body) \
	__asm__(".text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		".balign 16\n" #name ":\n" \
		".cfi_startproc\n" body ".cfi_endproc\n" \
		".size " #name ", . - " #name "\n")

/* Eight words, from a number that is counted on. */
FUNCTION(fill, "	movl	$8, %ecx\n"
	       "1:	incq	number(%rip)\n"
	       "	movq	number(%rip), %rax\n"
	       "	movq	%rax, -8(%rdi,%rcx,8)\n"
	       "	loop	1b\n"
	       "	ret\n");

#define SUM \
	"	movl	$8, %ecx\n" \
	"	xorl	%eax, %eax\n" \
	"1:	addq	-8(%rdx,%rcx,8), %rax\n" \
	"	loop	1b\n" \
	"	ret\n"

FUNCTION(sum_below, SUM);
FUNCTION(sum_below_too, SUM);
FUNCTION(sum_above, SUM);

/* In a register that the callee is known to leave alone. */
FUNCTION(gives_up, "	subq	$0x58, %rsp\n"
		   "	.cfi_adjust_cfa_offset 0x58\n"
		   "	movq	%rsp, %r10\n"
		   "	movq	%r10, %rdi\n"
		   "	call	fill\n"
		   "	movq	%r10, %rdx\n"
		   "	addq	$0x58, %rsp\n"
		   "	.cfi_adjust_cfa_offset -0x58\n"
		   "	jmp	sum_below\n");

/* With a frame pointer, from which the address is counted. */
FUNCTION(gives_up_too, "	pushq	%rbp\n"
		       "	.cfi_adjust_cfa_offset 8\n"
		       "	.cfi_rel_offset %rbp, 0\n"
		       "	movq	%rsp, %rbp\n"
		       "	.cfi_def_cfa_register %rbp\n"
		       "	pushq	%rbx\n"
		       "	.cfi_rel_offset %rbx, -8\n"
		       "	subq	$0x48, %rsp\n"
		       "	leaq	-0x50(%rbp), %rbx\n"
		       "	movq	%rbx, %rdi\n"
		       "	call	fill\n"
		       "	movq	%rbx, %rdx\n"
		       "	movq	-8(%rbp), %rbx\n"
		       "	leave\n"
		       "	.cfi_def_cfa %rsp, 8\n"
		       "	jmp	sum_below_too\n");

/* What is handed on is the caller's. */
FUNCTION(keeps, "	subq	$0x18, %rsp\n"
		"	.cfi_adjust_cfa_offset 0x18\n"
		"	leaq	0x20(%rsp), %rdi\n"
		"	call	fill\n"
		"	leaq	0x20(%rsp), %rdx\n"
		"	addq	$0x18, %rsp\n"
		"	.cfi_adjust_cfa_offset -0x18\n"
		"	jmp	sum_above\n");
FUNCTION(calls_keeps, "	subq	$0x48, %rsp\n"
		      "	.cfi_adjust_cfa_offset 0x48\n"
		      "	call	keeps\n"
		      "	addq	$0x48, %rsp\n"
		      "	.cfi_adjust_cfa_offset -0x48\n"
		      "	ret\n");

long number;
long gives_up(void), gives_up_too(void), calls_keeps(void);

int main(void)
{
	long sums[3] = {0};

	for (int i = 0; i < 1000; i++) {
		sums[0] += gives_up();
		sums[1] += gives_up_too();
		sums[2] += calls_keeps();
	}
	printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
	return 0;
}
