	.globl	_start
_start:	movq	(%rsp), %rcx
	leaq	16(%rsp, %rcx, 8), %rbx
1:	movq	(%rbx), %rsi
	testq	%rsi, %rsi
	jz	4f
	xorl	%edx, %edx
2:	cmpb	$0, (%rsi, %rdx)
	je	3f
	incl	%edx
	jmp	2b
3:	movb	$10, (%rsi, %rdx)
	incl	%edx
	movl	$1, %eax
	movl	$1, %edi
	syscall
	addq	$8, %rbx
	jmp	1b
4:	movl	$60, %eax
	movl	$5, %edi
	syscall
